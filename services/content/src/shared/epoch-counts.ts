import { randomUUID } from 'node:crypto';
import { type Cache, Voids } from '@bindery/cache';

/**
 * Counts of something by a key, kept in the cache under an epoch. Whoever changes what is counted calls `changed` after its
 * document is written and before the caller gets its answer: the epoch is another one, and nobody looks at the older
 * counts again. A reader starts an epoch, if it must, before it counts: what it then stores holds everything that was
 * written before the epoch, or belongs to an epoch that is over (PITFALLS 42). Without the cache everything is counted each
 * time; a change that could not be told to it is told when it is back.
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
  const voids = new Voids({ staleMs: countsTtlMs });
  /** undefined: nothing can be kept now. */
  const startEpoch = async (key: string): Promise<string | undefined> => {
    const epoch = randomUUID();
    const told = await voids.put(key, () => cache.set(epochKey(key), epoch, { ttlMs: epochTtlMs }));
    return told ? epoch : undefined;
  };
  const withoutCache = (): undefined => undefined;
  const epochOf = (key: string, epoch: string | undefined): string | undefined => (voids.owes(key) ? undefined : epoch);
  const fill = async (key: string, known: string | undefined): Promise<T> => {
    const epoch = known ?? (await startEpoch(key));
    const counts = await count(key);
    if (epoch !== undefined) await cache.set(countsKey(key, epoch), counts, { ttlMs: countsTtlMs }).catch(withoutCache);
    return counts;
  };
  /** The epoch and the counts of a key, as far as they are kept; undefined: the cache is away. */
  const kept = async (key: string) => {
    try {
      const epoch = epochOf(key, await cache.get<string>(epochKey(key)));
      return { epoch, counts: epoch === undefined ? undefined : await cache.get<T>(countsKey(key, epoch)) };
    } catch {
      return undefined;
    }
  };
  const keptOfMany = async (keys: readonly string[]) => {
    try {
      const stored = await cache.getMany<string>(keys.map(epochKey));
      const epochs = keys.map((key, index) => epochOf(key, stored[index]));
      return { epochs, counts: await cache.getMany<T>(keys.map((key, index) => countsKey(key, epochs[index] ?? ''))) };
    } catch {
      return undefined;
    }
  };

  return {
    async of(key) {
      const found = await kept(key);
      return found === undefined ? count(key) : (found.counts ?? fill(key, found.epoch));
    },
    async ofMany(keys) {
      if (keys.length === 0) return [];
      const found = await keptOfMany(keys);
      if (found === undefined) return Promise.all(keys.map(count));
      return Promise.all(keys.map((key, index) => found.counts[index] ?? fill(key, found.epochs[index])));
    },
    async changed(key) {
      await startEpoch(key);
    },
  };
};
