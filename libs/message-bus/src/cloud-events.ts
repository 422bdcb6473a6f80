import type { CloudEvent } from './port.ts';

/** A message as a broker carries it: CloudEvents 1.0 in the binary content mode of the Kafka protocol binding. */
export interface BinaryMessage {
  readonly key: string;
  /** JSON of the data, UTF-8. */
  readonly value: Buffer;
  /** `content-type`, and each attribute with the prefix `ce_`; `traceparent` also by its own name for tracing libraries. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A message as client libraries give it: header values may be bytes, and repeated ones lists. */
export interface ReceivedMessage {
  readonly key?: string | Uint8Array | null;
  readonly value: string | Uint8Array | null;
  readonly headers?: Readonly<Record<string, string | Uint8Array | readonly (string | Uint8Array)[] | undefined>>;
}

/** The message is not a CloudEvent that we can read. */
export class InvalidCloudEvent extends Error {
  readonly code = 'message_bus.invalid_cloud_event';
}

const ATTRIBUTE_NAME = /^[a-z0-9]+$/;
const REQUIRED = ['specversion', 'id', 'source', 'type'] as const;

const textOf = (value: string | Uint8Array): string =>
  typeof value === 'string' ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8');

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Encodes an event for a broker.
 * @throws TypeError when the data is absent or not JSON, or an attribute is not a text with a valid name (PITFALLS 49)
 */
export const toBinary = (event: CloudEvent): BinaryMessage => {
  const { data, datacontenttype, ...attributes } = event;
  const json = JSON.stringify(data) as string | undefined;
  if (json === undefined) throw new TypeError(`event ${event.id} (${event.type}) has no data that is JSON`);
  const headers: Record<string, string> = { 'content-type': datacontenttype };
  for (const [name, value] of Object.entries(attributes) as [string, unknown][]) {
    if (value === undefined) continue;
    if (!ATTRIBUTE_NAME.test(name) || typeof value !== 'string') {
      throw new TypeError(
        `event ${event.id} (${event.type}) has the attribute ${name}, which CloudEvents does not allow`,
      );
    }
    headers[`ce_${name}`] = value;
  }
  if (event.traceparent !== undefined) headers.traceparent = event.traceparent;
  return { key: event.subject, value: Buffer.from(json, 'utf8'), headers };
};

const parse = (what: string, text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidCloudEvent(`${what} is not JSON: ${String(error)}`, { cause: error });
  }
};

const fromAttributes = (attributes: Record<string, unknown>, data: unknown, key: string): CloudEvent => {
  for (const name of REQUIRED) {
    if (typeof attributes[name] !== 'string' || attributes[name] === '') {
      throw new InvalidCloudEvent(`the attribute ${name} is missing`);
    }
  }
  const { specversion, id, source, type } = attributes as Record<(typeof REQUIRED)[number], string>;
  if (specversion !== '1.0') throw new InvalidCloudEvent(`CloudEvents ${specversion} is not supported`);
  const text = (name: string): string | undefined => {
    const value = attributes[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    ...attributes, // extension attributes that we do not know travel on
    specversion,
    id,
    source,
    type,
    subject: text('subject') ?? key,
    time: text('time') ?? '',
    datacontenttype: 'application/json',
    dataschema: text('dataschema') ?? '',
    data: data === undefined ? {} : data,
  };
};

/**
 * Decodes a message in binary or structured content mode; only the content type tells them apart.
 * Absent data reads as `{}`. @throws InvalidCloudEvent
 */
export const fromBinary = (message: ReceivedMessage): CloudEvent => {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(message.headers ?? {})) {
    const first = Array.isArray(value)
      ? (value as readonly (string | Uint8Array)[])[0]
      : (value as string | Uint8Array);
    if (first !== undefined) headers.set(name.toLowerCase(), textOf(first));
  }
  const key = message.key === undefined || message.key === null ? '' : textOf(message.key);
  const contentType = headers.get('content-type') ?? '';
  const body = message.value === null ? '' : textOf(message.value);
  if (contentType.startsWith('application/cloudevents')) {
    if (!contentType.startsWith('application/cloudevents+json')) {
      throw new InvalidCloudEvent(`content type ${contentType} is not supported`);
    }
    const envelope = parse('the envelope', body);
    if (!isRecord(envelope)) throw new InvalidCloudEvent('the envelope is not an object');
    const { data, data_base64: encoded, ...rest } = envelope;
    const attributes = Object.fromEntries(Object.entries(rest).filter(([name]) => ATTRIBUTE_NAME.test(name)));
    if (typeof encoded !== 'string') return fromAttributes(attributes, data, key);
    return fromAttributes(attributes, parse('the data', Buffer.from(encoded, 'base64').toString('utf8')), key);
  }
  const attributes: Record<string, unknown> = {};
  for (const [name, value] of headers) {
    if (name.startsWith('ce_') && ATTRIBUTE_NAME.test(name.slice(3))) attributes[name.slice(3)] = value;
  }
  return fromAttributes(attributes, body === '' ? undefined : parse('the data', body), key);
};
