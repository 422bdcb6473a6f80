import type { AggregateDefinition } from '@bindery/event-sourcing';
import { type GrantCommand, grantsDecider } from './decider.ts';
import type { GrantEvent } from './events.ts';
import type { GrantsState } from './state.ts';

/** Streams `content.grants-<space or collection>`. */
export const grantsAggregate: AggregateDefinition<GrantsState, GrantCommand, GrantEvent> = {
  name: 'content.grants',
  decider: grantsDecider,
};
