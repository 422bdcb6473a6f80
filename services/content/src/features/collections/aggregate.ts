import type { AggregateDefinition } from '@bindery/event-sourcing';
import { type CollectionCommand, collectionsDecider } from './decider.ts';
import type { CollectionEvent } from './events.ts';
import type { CollectionsState } from './state.ts';

/** Streams `content.collections-<organization>`. */
export const collectionsAggregate: AggregateDefinition<CollectionsState, CollectionCommand, CollectionEvent> = {
  name: 'content.collections',
  decider: collectionsDecider,
};
