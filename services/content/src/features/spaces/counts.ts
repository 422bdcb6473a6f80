import { randomUUID } from 'node:crypto';
import type { Cache } from '@bindery/cache';

/** How many change requests of a space are open, and how many are drafts. */
export interface SpaceCounts {
  readonly open: number;
  readonly draft: number;
}

/** Counts from the read store, by an index. */
export type CountSource = (spaceId: string) => Promise<SpaceCounts>;

/**
 * Counts of change requests, kept in the cache under an epoch. Whoever changes a status calls `changed` after its document
 * is written and before the caller gets its answer: the epoch is another one, and nobody looks at the older counts again.
 * A reader starts an epoch, if it must, before it counts: what it then stores holds everything that was written before
 * the epoch, or belongs to an epoch that is over (PITFALLS 42).
 */
export interface ChangeRequestCounts {
  of(spaceId: string): Promise<SpaceCounts>;
  /** Counts of several spaces, in their order. */
  ofMany(spaceIds: readonly string[]): Promise<readonly SpaceCounts[]>;
  changed(spaceId: string): Promise<void>;
}

/** Also the longest that counts can be wrong after a process died between writing and `changed`. */
const countsTtlMs = 60_000;
const epochTtlMs = 24 * 60 * 60 * 1000;

const epochKey = (spaceId: string): string => `content:counts-epoch:${spaceId}`;
const countsKey = (spaceId: string, epoch: string): string => `content:counts:${spaceId}:${epoch}`;

export const createChangeRequestCounts = (deps: {
  readonly cache: Cache;
  readonly count: CountSource;
}): ChangeRequestCounts => {
  const { cache, count } = deps;
  const startEpoch = async (spaceId: string): Promise<string> => {
    const epoch = randomUUID();
    await cache.set(epochKey(spaceId), epoch, { ttlMs: epochTtlMs });
    return epoch;
  };
  const fill = async (spaceId: string, known: string | undefined): Promise<SpaceCounts> => {
    const epoch = known ?? (await startEpoch(spaceId));
    const counts = await count(spaceId);
    await cache.set(countsKey(spaceId, epoch), counts, { ttlMs: countsTtlMs });
    return counts;
  };

  return {
    async of(spaceId) {
      const epoch = await cache.get<string>(epochKey(spaceId));
      const cached = epoch === undefined ? undefined : await cache.get<SpaceCounts>(countsKey(spaceId, epoch));
      return cached ?? fill(spaceId, epoch);
    },
    async ofMany(spaceIds) {
      const epochs = await cache.getMany<string>(spaceIds.map(epochKey));
      const cached = await cache.getMany<SpaceCounts>(spaceIds.map((id, index) => countsKey(id, epochs[index] ?? '')));
      return Promise.all(spaceIds.map((id, index) => cached[index] ?? fill(id, epochs[index])));
    },
    async changed(spaceId) {
      await startEpoch(spaceId);
    },
  };
};
