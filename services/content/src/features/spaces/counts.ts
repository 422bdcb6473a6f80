import type { Cache } from '@bindery/cache';
import { createEpochCounts, type EpochCounts } from '../../shared/epoch-counts.ts';

/**
 * How many change requests of a space are open, how many are drafts, and how many of its comments are open; and whether
 * there is more to look up: most spaces were never synced nor imported into.
 */
export interface SpaceCounts {
  readonly open: number;
  readonly draft: number;
  readonly comments: number;
  /** It was synced with a repository. */
  readonly synced: boolean;
  /** Something was imported into it. */
  readonly imported: boolean;
}

/** Counts from the read store, by an index. */
export type CountSource = (spaceId: string) => Promise<SpaceCounts>;

/** Counts of a space; `changed` is called with every change of a status, every comment, and the start of every sync and import. */
export type ChangeRequestCounts = EpochCounts<SpaceCounts>;

export const createChangeRequestCounts = (deps: {
  readonly cache: Cache;
  readonly count: CountSource;
}): ChangeRequestCounts => createEpochCounts({ ...deps, name: 'content:counts' });
