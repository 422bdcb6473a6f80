import type { ApplySpaceTemplate, ContentImportRun, GitSyncState } from '@bindery/contracts';
import type { LiveCollection, Repository } from '@bindery/event-sourcing';
import type { CursorCodec, OperationContext, ServiceClient } from '@bindery/service-kit';
import type { Access } from '../access/index.ts';
import type { RevisionPart, RevisionReader } from '../revisions/index.ts';
import { type SpaceDocument, spacesCollection } from '../space-model/index.ts';
import type { ChangeRequestCounts } from './counts.ts';
import type { SpaceCommand } from './decider.ts';
import type { SpaceEvent } from './events.ts';
import type { SpacesCollection } from './list.ts';
import type { SpaceState } from './state.ts';

export type SpaceRepository = Repository<SpaceState, SpaceCommand, SpaceEvent>;

/** What spaces need to know of the collections that they are in. */
export interface Placement {
  /**
   * To be called after a space was put into a collection: if that ended meanwhile, the space goes the same way.
   * @returns false when the space is not where it was put
   */
  settle(context: OperationContext, space: SpaceDocument): Promise<boolean>;
  /** Where a deleted space goes when it is restored and its collection is gone; undefined when it can stay. */
  instead(
    space: SpaceDocument,
    now: Date,
  ): Promise<
    { readonly from: string; readonly order: string; readonly defaultLevel: SpaceDocument['defaultLevel'] } | undefined
  >;
}

/** What the routes of spaces work with. */
export interface SpaceRouteDeps {
  readonly access: Access;
  readonly repository: SpaceRepository;
  readonly spaces: SpacesCollection;
  readonly counts: ChangeRequestCounts;
  readonly cursors: CursorCodec;
  readonly reader: RevisionReader;
  readonly placement: Placement;
  /** Operations of the other services. */
  readonly services: ServiceClient;
  /** The first revision of a space that begins with a template. @throws Problem 400 for one that does not exist */
  readonly template: (
    context: OperationContext,
    spaceId: string,
    template: ApplySpaceTemplate,
  ) => Promise<RevisionPart>;
  /** The newest imports into the primary content of a space. */
  readonly imports?: (baseUrl: string, spaceId: string) => Promise<ContentImportRun[]>;
  /** How spaces stand with their git repositories; those that have none are absent. */
  readonly gitSync?: (spaceIds: readonly string[]) => Promise<ReadonlyMap<string, GitSyncState>>;
}

/** The live read model of spaces. */
export const openSpaces = (live: LiveCollection): SpacesCollection => live<SpaceDocument>(spacesCollection);
