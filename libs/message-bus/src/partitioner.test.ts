import { expect, test } from '@jest/globals';
import { murmur2, PARTITIONS, partitionOf } from './partitioner.ts';

test('murmur2 gives the values of the reference implementation (Kafka, UtilsTest)', () => {
  const cases: [string, number][] = [
    ['21', -973_932_308],
    ['foobar', -790_332_482],
    ['a-little-bit-long-string', -985_981_536],
    ['a-little-bit-longer-string', -1_486_304_829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58_897_971],
    ['abc', 479_470_107],
  ];
  for (const [text, hash] of cases) expect([text, murmur2(Buffer.from(text))]).toEqual([text, hash]);
});

test('partitions are stable, within bounds and used evenly', () => {
  const counts = new Array<number>(PARTITIONS).fill(0);
  for (let index = 0; index < 6000; index += 1) {
    const partition = partitionOf(`key-${index}`);
    counts[partition] = (counts[partition] ?? 0) + 1;
  }
  expect(counts).toHaveLength(PARTITIONS);
  for (const count of counts) expect(count).toBeGreaterThan(800);
  expect(['', 'a', 'Zk3J', '😀'].map((key) => partitionOf(key))).toEqual(
    ['', 'a', 'Zk3J', '😀'].map((key) => (murmur2(Buffer.from(key)) & 0x7fffffff) % PARTITIONS),
  );
});
