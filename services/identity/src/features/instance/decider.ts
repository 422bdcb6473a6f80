import type { AggregateDefinition } from '@bindery/event-sourcing';
import { conflict } from '@bindery/service-kit';
import type { InstanceEvent } from './events.ts';
import { evolve, type InstanceState, initialState, instanceAggregateName } from './state.ts';

/** Ends the first start. */
export interface InitializeInstance {
  readonly type: 'InitializeInstance';
  readonly data: InstanceEvent['data'];
}

export const decide = (command: InitializeInstance, state: InstanceState): readonly InstanceEvent[] => {
  if (state.status === 'new') return [{ type: 'InstanceInitialized', data: command.data }];
  if (state.administratorId === command.data.administratorId) return [];
  throw conflict('instance.initialized', 'The instance has an administrator already.');
};

/** The instance itself. */
export const instanceAggregate: AggregateDefinition<InstanceState, InitializeInstance, InstanceEvent> = {
  name: instanceAggregateName,
  decider: { initialState, decide, evolve },
};
