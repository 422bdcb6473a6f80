import type { BlobStore } from '@bindery/blob-store';
import type { Cache } from '@bindery/cache';
import type { LiveCollection } from '@bindery/event-sourcing';
import type { GuardedFetch } from '@bindery/guarded-fetch';
import type { HtmlReaderOptions } from '@bindery/html-reader';
import type { Clock, CursorCodec } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { Access } from '../access/index.ts';
import type { ChangeRequestLookup, ChangeRequestRepository, MergePolicy, Merging } from '../change-requests/index.ts';
import type { FileIngest } from '../files/index.ts';
import type { LevelsOfMembers } from '../permissions/index.ts';
import type { RevisionStore } from '../revisions/index.ts';
import type { ChangeRequestCounts, SpaceRepository, SpacesCollection } from '../spaces/index.ts';
import type { StorageFeature } from '../storage/index.ts';
import type { ImportRunRepository } from './aggregate.ts';

/** What imports of websites and files work with. */
export interface ImportRunDeps {
  readonly access: Access;
  readonly repository: ImportRunRepository;
  readonly spaceRepository: SpaceRepository;
  readonly changeRequestRepository: ChangeRequestRepository;
  readonly changeRequests: ChangeRequestLookup;
  readonly spaces: SpacesCollection;
  readonly counts: Pick<ChangeRequestCounts, 'changed'>;
  readonly merging: Merging;
  readonly policy: MergePolicy;
  readonly levelsOf: LevelsOfMembers;
  /** Brings the documents of a change request up to the end of its stream. */
  readonly repair: (changeRequestId: string) => Promise<void>;
  readonly reader: RevisionStore;
  readonly live: LiveCollection;
  readonly blobs: BlobStore;
  readonly files: FileIngest;
  readonly uploads: Pick<StorageFeature, 'find'>;
  readonly fetch: GuardedFetch;
  readonly cache: Cache;
  readonly cursors: CursorCodec;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How often imports that were left are looked for, in ms. Default 10,000. */
  readonly sweepMs?: number;
  readonly reading?: HtmlReaderOptions;
}
