import type { Repository } from '@bindery/event-sourcing';
import type { CursorCodec, ServiceClient } from '@bindery/service-kit';
import type { Access, CollectionSource } from '../access/index.ts';
import type { SpaceRouteDeps } from '../spaces/index.ts';
import type { GrantCommand } from './decider.ts';
import type { GrantEvent } from './events.ts';
import type { GrantReader } from './read-model/source.ts';
import type { GrantsState } from './state.ts';

export type GrantsRepository = Repository<GrantsState, GrantCommand, GrantEvent>;

/** What the routes of permissions work with. */
export interface PermissionRouteDeps extends Pick<SpaceRouteDeps, 'spaces' | 'counts'> {
  readonly access: Access;
  readonly collections: CollectionSource;
  readonly grants: GrantReader;
  readonly grantsRepository: GrantsRepository;
  readonly cursors: CursorCodec;
  readonly services: ServiceClient;
}
