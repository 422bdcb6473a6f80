import { randomUUID } from 'node:crypto';
import type { Cache } from '@bindery/cache';

/**
 * Counts of something by a key, kept in the cache under an epoch. Whoever changes what is counted calls `changed` after its
 * document is written and before the caller gets its answer: the epoch is another one, and nobody looks at the older
 * counts again. A reader starts an epoch, if it must, before it counts: what it then stores holds everything that was
 * written before the epoch, or belongs to an epoch that is over (PITFALLS 42).
 */
export interface EpochCounts<T> {
  of(key: string): Promise<T>;
  /** Counts of several keys, in their order. */
  ofMany(keys: readonly string[]): Promise<readonly T[]>;
  changed(key: string): Promise<void>;
}

/** Also the longest that counts can be wrong after a process died between writing and `changed`. */
const countsTtlMs = 60_000;
const epochTtlMs = 24 * 60 * 60 * 1000;

/** @param deps.name prefix of the keys in the cache */
export const createEpochCounts = <T>(deps: {
  readonly cache: Cache;
  readonly name: string;
  /** Counts from the read store, by an index. */
  readonly count: (key: string) => Promise<T>;
}): EpochCounts<T> => {
  const { cache, name, count } = deps;
  const epochKey = (key: string): string => `${name}-epoch:${key}`;
  const countsKey = (key: string, epoch: string): string => `${name}:${key}:${epoch}`;
  const startEpoch = async (key: string): Promise<string> => {
    const epoch = randomUUID();
    await cache.set(epochKey(key), epoch, { ttlMs: epochTtlMs });
    return epoch;
  };
  const fill = async (key: string, known: string | undefined): Promise<T> => {
    const epoch = known ?? (await startEpoch(key));
    const counts = await count(key);
    await cache.set(countsKey(key, epoch), counts, { ttlMs: countsTtlMs });
    return counts;
  };

  return {
    async of(key) {
      const epoch = await cache.get<string>(epochKey(key));
      const cached = epoch === undefined ? undefined : await cache.get<T>(countsKey(key, epoch));
      return cached ?? fill(key, epoch);
    },
    async ofMany(keys) {
      if (keys.length === 0) return [];
      const epochs = await cache.getMany<string>(keys.map(epochKey));
      const cached = await cache.getMany<T>(keys.map((key, index) => countsKey(key, epochs[index] ?? '')));
      return Promise.all(keys.map((key, index) => cached[index] ?? fill(key, epochs[index])));
    },
    async changed(key) {
      await startEpoch(key);
    },
  };
};
