import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { KAFKA_ERRORS } from './error-codes.ts';
import { PartitionLog } from './partition-log.ts';
import { BATCH_HEADER_BYTES, controlBatch, crc32c, isSound, placed, readBatch } from './record-batch.ts';

interface Sketch {
  readonly sequence: number;
  readonly count?: number;
  readonly epoch?: number;
  readonly transactional?: boolean;
  readonly gzip?: boolean;
}

/** A batch of producer 7 with records that hold nothing. */
const batchOf = ({ sequence, count = 1, epoch = 0, transactional = false, gzip = false }: Sketch): Buffer => {
  // Length 6 (zigzag 12): attributes, time, offset, no key (-1), no value (-1), no headers.
  const records = Buffer.concat(
    Array.from({ length: count }, (_, index) => Buffer.from([12, 0, 0, index * 2, 1, 1, 0])),
  );
  const bytes = Buffer.concat([Buffer.alloc(BATCH_HEADER_BYTES), gzip ? gzipSync(records) : records]);
  bytes.writeInt32BE(bytes.length - 12, 8);
  bytes.writeInt8(2, 16);
  bytes.writeInt16BE((transactional ? 0x10 : 0) | (gzip ? 1 : 0), 21);
  bytes.writeInt32BE(count - 1, 23);
  bytes.writeBigInt64BE(7n, 43);
  bytes.writeInt16BE(epoch, 51);
  bytes.writeInt32BE(sequence, 53);
  bytes.writeInt32BE(count, 57);
  bytes.writeUInt32BE(crc32c(bytes.subarray(21)), 17);
  return bytes;
};

const append = (log: PartitionLog, bytes: Buffer): unknown => {
  const judged = log.judge(readBatch(bytes));
  if (judged === undefined) log.append(placed(bytes, log.end));
  return judged;
};

describe('a batch', () => {
  test('the checksum is CRC-32C', () => {
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
  });
  test('is sound when nothing in it was changed, packed or not; markers are', () => {
    for (const gzip of [false, true]) {
      const bytes = batchOf({ sequence: 0, count: 3, gzip });
      expect(isSound(bytes)).toBe(true);
      expect(isSound(placed(bytes, 5_000n))).toBe(true);
      for (const at of [8, 16, 17, 25, 57, bytes.length - 1]) {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
        expect(isSound(changed)).toBe(false);
      }
    }
    expect(isSound(controlBatch(7n, 1, true, 0))).toBe(true);
  });
});

describe('sequences of a producer', () => {
  const OUT_OF_ORDER = { error: KAFKA_ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER };

  test('the next follows, a repetition is recognized, a gap is refused', () => {
    const log = new PartitionLog();
    expect(append(log, batchOf({ sequence: 0, count: 3 }))).toBeUndefined();
    expect(append(log, batchOf({ sequence: 3 }))).toBeUndefined();
    expect(append(log, batchOf({ sequence: 0, count: 3 }))).toEqual({ duplicateOf: 0n });
    expect(append(log, batchOf({ sequence: 3 }))).toEqual({ duplicateOf: 3n });
    expect(append(log, batchOf({ sequence: 5 }))).toEqual(OUT_OF_ORDER);
    expect(append(log, batchOf({ sequence: 0 }))).toEqual(OUT_OF_ORDER);
    expect(log.end).toBe(4n);
  });
  test('a newer epoch starts at 0, an older one is fenced', () => {
    const log = new PartitionLog();
    append(log, batchOf({ sequence: 0, epoch: 1 }));
    expect(append(log, batchOf({ sequence: 1, epoch: 2 }))).toEqual(OUT_OF_ORDER);
    expect(append(log, batchOf({ sequence: 0, epoch: 2 }))).toBeUndefined();
    expect(append(log, batchOf({ sequence: 1, epoch: 1 }))).toEqual({ error: KAFKA_ERRORS.INVALID_PRODUCER_EPOCH });
  });
  test('only the last five batches are remembered', () => {
    const log = new PartitionLog();
    for (let sequence = 0; sequence < 6; sequence += 1) append(log, batchOf({ sequence }));
    expect(append(log, batchOf({ sequence: 1 }))).toEqual({ duplicateOf: 1n });
    expect(append(log, batchOf({ sequence: 0 }))).toEqual(OUT_OF_ORDER);
  });
});

describe('transactions in a partition', () => {
  test('the stable end stands before the first open one; undone ones are told', () => {
    const log = new PartitionLog();
    append(log, batchOf({ sequence: 0, transactional: true }));
    append(log, batchOf({ sequence: 1, transactional: true }));
    expect([log.end, log.stableEnd]).toEqual([2n, 0n]);
    log.append(placed(controlBatch(7n, 0, false, 0), log.end));
    expect([log.end, log.stableEnd]).toEqual([3n, 3n]);
    append(log, batchOf({ sequence: 2, transactional: true }));
    log.append(placed(controlBatch(7n, 0, true, 0), log.end));
    expect(log.abortedBetween(0n, 5n)).toEqual([{ producerId: 7n, first: 0n, last: 2n }]);
    expect(log.abortedBetween(3n, 5n)).toEqual([]);
    expect(log.read(1n, log.stableEnd, 1, true)).toHaveLength(1);
    expect(log.read(0n, log.stableEnd, 10_000, false)).toHaveLength(5);
  });
});
