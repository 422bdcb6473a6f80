import type { BlobStore } from '@bindery/blob-store';
import type { Cache } from '@bindery/cache';
import type { LiveCollection } from '@bindery/event-sourcing';
import type { RepositoryLimits } from '@bindery/git-sync';
import type { GuardedFetch } from '@bindery/guarded-fetch';
import type { Clock } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { Access } from '../access/index.ts';
import type { RevisionStore } from '../revisions/index.ts';
import type { ChangeRequestCounts, SpaceRepository } from '../spaces/index.ts';
import type { GitSyncRepository } from './aggregate.ts';

/** What git sync works with. */
export interface GitDeps {
  readonly access: Access;
  readonly repository: GitSyncRepository;
  readonly spaceRepository: SpaceRepository;
  readonly reader: RevisionStore;
  /** Told when a space is synced. */
  readonly counts: Pick<ChangeRequestCounts, 'changed'>;
  readonly live: LiveCollection;
  readonly blobs: BlobStore;
  readonly fetch: GuardedFetch;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of one operation, in ms. Default 600,000. */
  readonly timeoutMs?: number;
  /** How often operations that were left are looked for, in ms. Default 15,000. */
  readonly sweepMs?: number;
  /** How long after its start an operation that nobody holds counts as left, in ms. Default 10,000. */
  readonly graceMs?: number;
  readonly limits?: Partial<RepositoryLimits>;
}

/** The time that one operation may take, in ms. */
export const defaultTimeoutMs = 600_000;
