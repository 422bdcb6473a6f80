/** What this consumer reads of a merged change request. It asks for nothing else, so new fields do not break it. */
export interface Merged {
  readonly id: string;
  readonly spaceId: string;
  readonly changeRequestId: string;
  readonly mergedAt: string;
  /** W3C trace context of the publisher. */
  readonly traceparent: string | undefined;
}

export interface Message {
  readonly value: Uint8Array | null;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
}

const mergedType = 'bindery.content.change-request.merged.v1';

/** The message breaks what the catalogue promises: trying again is useless. */
export class Unreadable extends Error {}

const header = ({ headers = {} }: Message, name: string): string | undefined => {
  const value: unknown = headers[name];
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : undefined;
};

/**
 * Reads a CloudEvent in binary mode: attributes are headers `ce_…`, the data is the JSON value.
 * @returns undefined for events of other types, which share the topic
 * @throws Unreadable
 */
export const readMerged = (message: Message): Merged | undefined => {
  if (header(message, 'ce_type') !== mergedType) return undefined;
  const id = header(message, 'ce_id');
  let data: Readonly<Record<string, unknown>>;
  try {
    data = Object(JSON.parse(Buffer.from(message.value ?? []).toString('utf8')));
  } catch {
    throw new Unreadable('the data is not JSON');
  }
  const { spaceId, changeRequestId, mergedAt } = data;
  if (
    id === undefined ||
    typeof spaceId !== 'string' ||
    typeof changeRequestId !== 'string' ||
    typeof mergedAt !== 'string'
  )
    throw new Unreadable('a field is missing');
  return { id, spaceId, changeRequestId, mergedAt, traceparent: header(message, 'traceparent') };
};
