import { randomUUID } from 'node:crypto';
import { type Cache, Voids } from '@bindery/cache';

/**
 * Counts of something by a key, kept in the cache with an epoch. Whoever changes what is counted calls `changed` after its
 * document is written and before the caller gets its answer: the epoch is another one, and counts of an older one are as
 * good as none. A reader starts an epoch, if it must, before it counts: what it then stores holds everything that was
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

/** Counts as the cache has them. */
interface Kept<T> {
  readonly epoch: string;
  readonly counts: T;
}

/** @param deps.name prefix of the keys in the cache */
export const createEpochCounts = <T>(deps: {
  readonly cache: Cache;
  readonly name: string;
  /** Counts from the read store, by an index. */
  readonly count: (key: string) => Promise<T>;
}): EpochCounts<T> => {
  const { cache, name, count } = deps;
  const epochKey = (key: string): string => `${name}-epoch:${key}`;
  const countsKey = (key: string): string => `${name}:${key}`;
  const voids = new Voids({ staleMs: countsTtlMs });
  /** undefined: nothing can be kept now. */
  const startEpoch = async (key: string): Promise<string | undefined> => {
    const epoch = randomUUID();
    const told = await voids.put(key, () => cache.set(epochKey(key), epoch, { ttlMs: epochTtlMs }));
    return told ? epoch : undefined;
  };
  const withoutCache = (): undefined => undefined;
  const fill = async (key: string, known: string | undefined): Promise<T> => {
    const epoch = known ?? (await startEpoch(key));
    const counts = await count(key);
    const entry: Kept<T> | undefined = epoch === undefined ? undefined : { epoch, counts };
    if (entry !== undefined) await cache.set(countsKey(key), entry, { ttlMs: countsTtlMs }).catch(withoutCache);
    return counts;
  };
  /** The epochs and counts of keys, as far as they are kept, in one look; undefined: the cache is away. */
  const kept = async (keys: readonly string[]) => {
    try {
      const stored = await cache.getMany<string | Kept<T>>([...keys.map(epochKey), ...keys.map(countsKey)]);
      return keys.map((key, index) => {
        const epoch = voids.owes(key) ? undefined : (stored[index] as string | undefined);
        const last = stored[keys.length + index] as Kept<T> | undefined;
        return { epoch, counts: epoch !== undefined && last?.epoch === epoch ? last.counts : undefined };
      });
    } catch {
      return undefined;
    }
  };
  const ofMany = async (keys: readonly string[]): Promise<readonly T[]> => {
    const found = await kept(keys);
    if (found === undefined) return Promise.all(keys.map(count));
    return Promise.all(found.map(({ counts, epoch }, index) => counts ?? fill(keys[index] ?? '', epoch)));
  };

  return {
    async of(key) {
      const [counts] = await ofMany([key]);
      return counts as T;
    },
    ofMany: async (keys) => (keys.length === 0 ? [] : ofMany(keys)),
    async changed(key) {
      await startEpoch(key);
    },
  };
};
