import type { AggregateDefinition } from '@bindery/event-sourcing';
import type { DiscardAsked, RecoveryAsked, RecoveryEvent } from './events.ts';
import { evolve, initialState, type RecoveryState, recoveryAggregateName } from './state.ts';

/** Records what an administrator asks for. */
export interface RecordRecovery {
  readonly type: 'RecordRecovery';
  readonly data: RecoveryAsked['data'];
}

/** Records that an administrator gives a message up. */
export interface RecordDiscard {
  readonly type: 'RecordDiscard';
  readonly data: DiscardAsked['data'];
}

export type RecoveryCommand = RecordRecovery | RecordDiscard;

export const decide = (command: RecoveryCommand, state: RecoveryState): readonly RecoveryEvent[] => {
  if (state.recorded) return [];
  return command.type === 'RecordDiscard'
    ? [{ type: 'DiscardAsked', data: command.data }]
    : [{ type: 'RecoveryAsked', data: command.data }];
};

/** One stream per request: one that is repeated under its key is recorded once. */
export const recoveryAggregate: AggregateDefinition<RecoveryState, RecoveryCommand, RecoveryEvent> = {
  name: recoveryAggregateName,
  decider: { initialState, decide, evolve },
};
