import type { AggregateDefinition } from '@bindery/event-sourcing';
import { type SpaceCommand, spaceDecider } from './decider.ts';
import type { SpaceEvent } from './events.ts';
import type { SpaceState } from './state.ts';

/** Streams `content.space-<id>`. */
export const spaceAggregate: AggregateDefinition<SpaceState, SpaceCommand, SpaceEvent> = {
  name: 'content.space',
  decider: spaceDecider,
};
