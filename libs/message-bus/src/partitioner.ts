const SEED = 0x9747b28c;
const M = 0x5bd1e995;

/** 32-bit murmur2 over bytes, as Kafka's own clients compute it (signed result). */
export const murmur2 = (bytes: Uint8Array): number => {
  const { length } = bytes;
  const at = (index: number): number => bytes[index] ?? 0;
  let hash = SEED ^ length;
  const whole = length - (length % 4);
  for (let i = 0; i < whole; i += 4) {
    let k = at(i) | (at(i + 1) << 8) | (at(i + 2) << 16) | (at(i + 3) << 24);
    k = Math.imul(k, M);
    k ^= k >>> 24;
    k = Math.imul(k, M);
    hash = Math.imul(hash, M) ^ k;
  }
  const rest = length % 4;
  if (rest === 3) hash ^= at(whole + 2) << 16;
  if (rest >= 2) hash ^= at(whole + 1) << 8;
  if (rest >= 1) hash = Math.imul(hash ^ at(whole), M);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, M);
  return hash ^ (hash >>> 15);
};

/** Partitions of every topic, fixed for good: adding some would move keys and break their order (PITFALLS 25). */
export const PARTITIONS = 6;

/** Partition of a key, from 0: the same as the default partitioner of Kafka's Java client, whoever publishes. */
export const partitionOf = (key: string, partitions = PARTITIONS): number =>
  (murmur2(Buffer.from(key, 'utf8')) & 0x7fffffff) % partitions;
