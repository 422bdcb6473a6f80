import { AppendTooLarge, type EventData } from './port.ts';

/** An event ready to be written: nothing that could fail is left to do. */
export interface EncodedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

export interface EncodedAppend {
  readonly events: readonly EncodedEvent[];
  /** Length of all texts, near enough to bytes for limits. */
  readonly bytes: number;
}

/** Most events of one append, and the largest one (JSON of data and metadata, in characters). */
export const MAX_EVENTS_PER_APPEND = 10_000;
export const MAX_EVENT_LENGTH = 16 * 1024 * 1024;
/**
 * Most bytes of one append: what EventStoreDB takes at most, less what it adds to them. The same for every store, so that
 * nothing can be done on one that cannot be done on the other.
 */
export const MAX_APPEND_BYTES = 15_000_000;
/** What names and ids of an event take up, about. */
const EVENT_OVERHEAD = 200;
const MAX_NAME_LENGTH = 500;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Names are stored as UTF-8 text: half a surrogate pair or a NUL would not come back as it went in. */
const checkName = (what: string, value: unknown): string => {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${what} must be a text that is not empty`);
  if (value.length > MAX_NAME_LENGTH) throw new TypeError(`${what} is longer than ${MAX_NAME_LENGTH} characters`);
  if (value.includes('\0') || !value.isWellFormed())
    throw new TypeError(`${what} contains characters that are not text`);
  return value;
};

const encodeJson = (what: string, value: unknown): string => {
  let text: string | undefined;
  try {
    text = JSON.stringify(value); // escapes lone surrogates, so that they survive
  } catch (error) {
    throw new TypeError(`${what} is not JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  if (text === undefined) throw new TypeError(`${what} is not JSON: it is ${typeof value}`);
  return text;
};

const encodeEvent = (stream: string, event: EventData): EncodedEvent => {
  if (typeof event.id !== 'string' || !UUID.test(event.id)) {
    throw new TypeError(`an event for ${stream} has an id that is not a lower-case UUID: ${String(event.id)}`);
  }
  const type = checkName(`the type of event ${event.id}`, event.type);
  const data = encodeJson(`data of ${type} ${event.id}`, event.data);
  const metadata = encodeJson(`metadata of ${type} ${event.id}`, event.metadata);
  if (data.length + metadata.length > MAX_EVENT_LENGTH) {
    throw new AppendTooLarge(`${type} ${event.id} is larger than ${MAX_EVENT_LENGTH} characters of JSON`);
  }
  return { id: event.id, type, data, metadata };
};

const exactBytes = (events: readonly EncodedEvent[]): number =>
  events.reduce(
    (sum, { data, metadata }) => sum + Buffer.byteLength(data) + Buffer.byteLength(metadata) + EVENT_OVERHEAD,
    0,
  );

/**
 * Checks and serializes everything before an append is queued or sent (PITFALLS 8); every adapter begins with it.
 * @throws AppendTooLarge; TypeError which names the event and what is wrong with it
 */
export const encodeAppend = (stream: string, events: readonly EventData[]): EncodedAppend => {
  checkName('the name of a stream', stream);
  if (events.length === 0) throw new TypeError(`an append to ${stream} needs at least one event`);
  if (events.length > MAX_EVENTS_PER_APPEND) {
    throw new AppendTooLarge(`an append to ${stream} has more than ${MAX_EVENTS_PER_APPEND} events`);
  }
  const encoded = events.map((event) => encodeEvent(stream, event));
  if (encoded.length > 1 && new Set(encoded.map((event) => event.id)).size < encoded.length) {
    throw new TypeError(`an append to ${stream} uses an event id twice`);
  }
  const bytes = encoded.reduce((sum, event) => sum + event.data.length + event.metadata.length + EVENT_OVERHEAD, 0);
  // A character is three bytes at most, so most appends need not be measured.
  if (bytes * 3 > MAX_APPEND_BYTES && exactBytes(encoded) > MAX_APPEND_BYTES) {
    throw new AppendTooLarge(`an append to ${stream} is larger than ${MAX_APPEND_BYTES} bytes`);
  }
  return { events: encoded, bytes };
};
