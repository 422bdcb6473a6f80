import type { ContentImportRun } from '@bindery/contracts';
import type { Repository } from '@bindery/event-sourcing';
import type { CursorCodec } from '@bindery/service-kit';
import type { EpochCounts } from '../../shared/epoch-counts.ts';
import type { Access } from '../access/index.ts';
import type { FileIngest, FileLinks } from '../files/index.ts';
import type { RevisionStore } from '../revisions/index.ts';
import type { ChangeRequestCounts, SpaceRepository, SpacesCollection } from '../spaces/index.ts';
import type { ChangeRequestCommand } from './decider.ts';
import type { ChangeRequestEvent } from './events.ts';
import type { MergePolicy } from './merge-policy.ts';
import type { Contribution } from './read-model/document.ts';
import type { ChangeRequestsCollection } from './read-model/lookup.ts';
import type { ChangeRequestState } from './state.ts';

export type ChangeRequestRepository = Repository<ChangeRequestState, ChangeRequestCommand, ChangeRequestEvent>;

/** What merging works with. */
export interface MergeDeps {
  readonly repository: ChangeRequestRepository;
  readonly spaceRepository: SpaceRepository;
  readonly reader: RevisionStore;
  readonly counts: Pick<ChangeRequestCounts, 'changed'>;
}

/** What the routes of change requests work with. */
export interface ChangeRequestRouteDeps extends MergeDeps {
  readonly access: Access;
  readonly spaces: SpacesCollection;
  readonly changeRequests: ChangeRequestsCollection;
  readonly cursors: CursorCodec;
  /** How many comments are open, by change request. */
  readonly openComments: Pick<EpochCounts<number>, 'of' | 'ofMany'>;
  /** Who took part in the discussion of a change request. */
  readonly commenters: (changeRequestId: string) => Promise<readonly Contribution[]>;
  readonly files: FileIngest;
  readonly policy: MergePolicy;
  /** Brings the documents of a change request up to the end of its stream. */
  readonly repair: (changeRequestId: string) => Promise<void>;
  /** The newest imports into a change request. */
  readonly imports: (baseUrl: string, spaceId: string, changeRequestId: string) => Promise<ContentImportRun[]>;
  readonly fileLinks: Pick<FileLinks, 'represent'>;
}
