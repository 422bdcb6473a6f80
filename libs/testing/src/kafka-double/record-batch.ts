import { gunzipSync } from 'node:zlib';

/** Where the fields of a record batch (magic 2) stand. The checksum covers what follows it. */
const AT = {
  length: 8,
  epoch: 12,
  magic: 16,
  crc: 17,
  attributes: 21,
  lastDelta: 23,
  baseTime: 27,
  maxTime: 35,
} as const;
const PRODUCER = { id: 43, epoch: 51, sequence: 53, count: 57 } as const;
export const BATCH_HEADER_BYTES = 61;

const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;
/** Castagnoli's polynomial, reflected. */
const POLYNOMIAL = 0x82f63b78;
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value >>> 0;
});

/** CRC-32C, the checksum of record batches. */
export const crc32c = (bytes: Uint8Array): number => {
  let value = 0xffffffff;
  for (const byte of bytes) value = (TABLE[(value ^ byte) & 0xff] ?? 0) ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
};

/** What the broker must know of a batch; the records stay as the producer wrote them. */
export interface BatchHeader {
  readonly bytes: Buffer;
  readonly baseOffset: bigint;
  readonly lastOffset: bigint;
  readonly maxTimestamp: bigint;
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly baseSequence: number;
  readonly count: number;
  readonly transactional: boolean;
  readonly control: boolean;
}

export const readBatch = (bytes: Buffer): BatchHeader => {
  const baseOffset = bytes.readBigInt64BE(0);
  const attributes = bytes.readInt16BE(AT.attributes);
  return {
    bytes,
    baseOffset,
    lastOffset: baseOffset + BigInt(bytes.readInt32BE(AT.lastDelta)),
    maxTimestamp: bytes.readBigInt64BE(AT.maxTime),
    producerId: bytes.readBigInt64BE(PRODUCER.id),
    producerEpoch: bytes.readInt16BE(PRODUCER.epoch),
    baseSequence: bytes.readInt32BE(PRODUCER.sequence),
    count: bytes.readInt32BE(PRODUCER.count),
    transactional: (attributes & TRANSACTIONAL) !== 0,
    control: (attributes & CONTROL) !== 0,
  };
};

/** The records of a batch as bytes; only gzip is unpacked, other codecs are the producer's and consumers' affair. */
const recordsOf = (bytes: Buffer): Buffer | undefined => {
  const codec = bytes.readInt16BE(AT.attributes) & 0x07;
  const records = bytes.subarray(BATCH_HEADER_BYTES);
  if (codec === 0) return records;
  return codec === 1 ? gunzipSync(records, { maxOutputLength: 256 * 1024 * 1024 }) : undefined;
};

/** A zigzag varint. @returns value and the place after it */
const varint = (bytes: Buffer, from: number): readonly [value: bigint, next: number] => {
  let value = 0n;
  for (let at = from, shift = 0n; ; at += 1, shift += 7n) {
    const byte = bytes.readUInt8(at);
    value |= BigInt(byte & 0x7f) << shift;
    if ((byte & 0x80) === 0) return [(value >> 1n) ^ -(value & 1n), at + 1];
  }
};

/** Whether length, magic, checksum and count of the records are right. */
export const isSound = (bytes: Buffer): boolean => {
  if (bytes.length < BATCH_HEADER_BYTES || bytes.readInt32BE(AT.length) !== bytes.length - 12) return false;
  if (bytes.readInt8(AT.magic) !== 2 || bytes.readUInt32BE(AT.crc) !== crc32c(bytes.subarray(AT.attributes)))
    return false;
  const { count, lastOffset, baseOffset } = readBatch(bytes);
  if (count < 1 || lastOffset - baseOffset !== BigInt(count - 1)) return false;
  try {
    const records = recordsOf(bytes);
    if (records === undefined) return true;
    let at = 0;
    for (let index = 0; index < count; index += 1) {
      const [length, next] = varint(records, at);
      at = next + Number(length);
    }
    return at === records.length;
  } catch {
    return false;
  }
};

/** First offset in the batch whose time is not before `timestamp`, with that time. */
export const firstNotBefore = (batch: BatchHeader, timestamp: bigint): readonly [offset: bigint, time: bigint] => {
  const records = recordsOf(batch.bytes);
  const baseTime = batch.bytes.readBigInt64BE(AT.baseTime);
  for (let at = 0, index = 0; records !== undefined && index < batch.count; index += 1) {
    const [length, start] = varint(records, at);
    const [timeDelta, afterTime] = varint(records, start + 1);
    const [offsetDelta] = varint(records, afterTime);
    if (baseTime + timeDelta >= timestamp) return [batch.baseOffset + offsetDelta, baseTime + timeDelta];
    at = start + Number(length);
  }
  return [batch.baseOffset, baseTime];
};

/** The batch at its place in the log. Offset and leader epoch stand before the checksum, so it stays right. */
export const placed = (bytes: Buffer, baseOffset: bigint): Buffer => {
  const copy = Buffer.from(bytes);
  copy.writeBigInt64BE(baseOffset, 0);
  copy.writeInt32BE(0, AT.epoch);
  return copy;
};

/** The marker that ends a transaction in a partition: one control record, `commit` or abort. */
export const controlBatch = (producerId: bigint, producerEpoch: number, commit: boolean, time: number): Buffer => {
  const key = Buffer.from([0, 0, 0, commit ? 1 : 0]);
  const value = Buffer.alloc(6);
  // attributes, time delta, offset delta, key length 4, key, value length 6, value, no headers; lengths are zigzag.
  const body = Buffer.concat([Buffer.from([0, 0, 0, 8]), key, Buffer.from([12]), value, Buffer.from([0])]);
  const bytes = Buffer.concat([Buffer.alloc(BATCH_HEADER_BYTES), Buffer.from([body.length * 2]), body]);
  bytes.writeInt32BE(bytes.length - 12, AT.length);
  bytes.writeInt8(2, AT.magic);
  bytes.writeInt16BE(TRANSACTIONAL | CONTROL, AT.attributes);
  bytes.writeBigInt64BE(BigInt(time), AT.baseTime);
  bytes.writeBigInt64BE(BigInt(time), AT.maxTime);
  bytes.writeBigInt64BE(producerId, PRODUCER.id);
  bytes.writeInt16BE(producerEpoch, PRODUCER.epoch);
  bytes.writeInt32BE(-1, PRODUCER.sequence);
  bytes.writeInt32BE(1, PRODUCER.count);
  bytes.writeUInt32BE(crc32c(bytes.subarray(AT.attributes)), AT.crc);
  return bytes;
};
