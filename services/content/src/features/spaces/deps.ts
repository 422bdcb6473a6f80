import type { LiveCollection, Repository } from '@bindery/event-sourcing';
import type { CursorCodec } from '@bindery/service-kit';
import type { Access } from '../access/index.ts';
import type { RevisionReader } from '../revisions/index.ts';
import { type SpaceDocument, spacesCollection } from '../space-model/index.ts';
import type { ChangeRequestCounts } from './counts.ts';
import type { SpaceCommand } from './decider.ts';
import type { SpaceEvent } from './events.ts';
import type { SpacesCollection } from './list.ts';
import type { SpaceState } from './state.ts';

export type SpaceRepository = Repository<SpaceState, SpaceCommand, SpaceEvent>;

/** What the routes of spaces work with. */
export interface SpaceRouteDeps {
  readonly access: Access;
  readonly repository: SpaceRepository;
  readonly spaces: SpacesCollection;
  readonly counts: ChangeRequestCounts;
  readonly cursors: CursorCodec;
  readonly reader: RevisionReader;
}

/** The live read model of spaces. */
export const openSpaces = (live: LiveCollection): SpacesCollection => live<SpaceDocument>(spacesCollection);
