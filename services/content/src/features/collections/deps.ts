import type { Repository } from '@bindery/event-sourcing';
import type { SpaceRouteDeps } from '../spaces/index.ts';
import type { CollectionCommand } from './decider.ts';
import type { CollectionEvent } from './events.ts';
import type { Collections } from './read-model/source.ts';
import type { CollectionsState } from './state.ts';

export type CollectionsRepository = Repository<CollectionsState, CollectionCommand, CollectionEvent>;

/** What the routes of collections work with. */
export interface CollectionRouteDeps extends SpaceRouteDeps {
  readonly collections: Collections;
  readonly collectionsRepository: CollectionsRepository;
}
