import type { KafkaMessage } from 'kafkajs';
import { fromBinary, toBinary } from '../../cloud-events.ts';
import { DEAD_LETTER_HEADERS, shortened } from '../../dead-letters.ts';
import type { BusMessage, CloudEvent } from '../../port.ts';

/** A record as it is written. */
export interface OutgoingRecord {
  readonly key: string;
  /** Null only on compacted topics of our own: there it removes the key. */
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string | Buffer | (string | Buffer)[]>>;
  readonly partition: number;
  readonly bytes: number;
}

/** A record as it is read. */
export interface StoredRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly record: KafkaMessage;
}

/** What the protocol adds to a record, generously. */
const OVERHEAD = 100;

const sizeOf = (key: string, value: Buffer | null, headers: OutgoingRecord['headers']): number =>
  OVERHEAD +
  key.length * 3 +
  (value?.byteLength ?? 0) +
  Object.entries(headers).reduce((sum, [name, text]) => sum + name.length + 8 + String(text).length * 3, 0);

export const outgoing = (
  key: string,
  value: Buffer | null,
  headers: OutgoingRecord['headers'],
  partition: number,
): OutgoingRecord => ({ key, value, headers, partition, bytes: sizeOf(key, value, headers) });

/** Encodes an event. @throws TypeError when the key or the event cannot be sent */
export const encode = (
  { key, event }: { readonly key: string; readonly event: CloudEvent },
  maxBytes: number,
): Omit<OutgoingRecord, 'partition'> => {
  if (typeof key !== 'string' || key === '' || key.includes('\0') || !key.isWellFormed()) {
    throw new TypeError('the key of a message must be a text that is not empty');
  }
  const { value, headers } = toBinary(event);
  const record = outgoing(key, value, headers, 0);
  if (value.byteLength > maxBytes) {
    throw new TypeError(
      `event ${event.id} (${event.type}) has more than the ${maxBytes} bytes that a message may have`,
    );
  }
  return record;
};

/** Key of a record as a text: empty for one without. */
export const keyOf = ({ key }: KafkaMessage): string => (key === null ? '' : key.toString('utf8'));

/**
 * Key under which a record is parked. Those without one are in any partition: each partition has a key of its own for them,
 * which no key of ours can be.
 */
export const parkedKeyOf = ({ record, partition }: StoredRecord): string => keyOf(record) || `\0${partition}`;

/** Whether a record waits under a key. Those without one that an earlier release parked, of all partitions, have the empty key. */
export const isParkedAs = (stored: StoredRecord, key: string): boolean =>
  parkedKeyOf(stored) === key || (key === '' && keyOf(stored.record) === '');

const firstText = (value: KafkaMessage['headers']): Record<string, string> => {
  const texts: Record<string, string> = {};
  for (const [name, header] of Object.entries(value ?? {})) {
    const first = Array.isArray(header) ? header[0] : header;
    if (first !== undefined) texts[name] = first.toString();
  }
  return texts;
};

/** Headers as texts; of a repeated one the first. */
export const headersOf = (record: KafkaMessage): Record<string, string> => firstText(record.headers);

/** Decodes for a handler. @throws InvalidCloudEvent */
export const toBusMessage = ({ topic, partition, offset, record }: StoredRecord): BusMessage => {
  const headers = headersOf(record);
  const key = keyOf(record);
  const event = fromBinary({ key, value: record.value, headers });
  return { topic, partition, offset: String(offset), key, event, headers };
};

/** The dead letter of a record: bytes and headers as they were, and where it came from and why (PITFALLS 35). */
export const deadLetterOf = (
  { topic, partition, offset, record }: StoredRecord,
  to: { readonly partition: number; readonly reason: string; readonly attempts: number },
): OutgoingRecord => {
  const own: Record<string, string | Buffer | (string | Buffer)[]> = {};
  for (const [name, value] of Object.entries(record.headers ?? {})) if (value !== undefined) own[name] = value;
  const headers = {
    ...own,
    [DEAD_LETTER_HEADERS.topic]: topic,
    [DEAD_LETTER_HEADERS.partition]: String(partition),
    [DEAD_LETTER_HEADERS.offset]: String(offset),
    [DEAD_LETTER_HEADERS.reason]: shortened(to.reason),
    [DEAD_LETTER_HEADERS.attempts]: String(to.attempts),
  };
  return outgoing(keyOf(record), record.value ?? Buffer.alloc(0), headers, to.partition);
};

const added = new Set<string>(Object.values(DEAD_LETTER_HEADERS));

/** The record that a dead letter holds, as it was before it was parked; undefined when it is no dead letter. */
export const originalOf = ({ record }: StoredRecord): StoredRecord | undefined => {
  const headers = headersOf(record);
  const topic = headers[DEAD_LETTER_HEADERS.topic];
  const partition = Number(headers[DEAD_LETTER_HEADERS.partition] ?? Number.NaN);
  const offset = headers[DEAD_LETTER_HEADERS.offset];
  if (topic === undefined || offset === undefined || !/^\d+$/.test(offset) || !Number.isSafeInteger(partition)) {
    return undefined;
  }
  const own = Object.fromEntries(Object.entries(record.headers ?? {}).filter(([name]) => !added.has(name)));
  const { key, value, timestamp, attributes } = record;
  const original: KafkaMessage = { key, value, timestamp, attributes, offset, headers: own };
  return { topic, partition, offset: BigInt(offset), record: original };
};
