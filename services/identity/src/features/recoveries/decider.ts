import type { AggregateDefinition } from '@bindery/event-sourcing';
import type { DiscardAsked, ForgetAsked, RecoveryAsked, RecoveryEvent } from './events.ts';
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

/** Records that an administrator has a key forgotten. */
export interface RecordForget {
  readonly type: 'RecordForget';
  readonly data: ForgetAsked['data'];
}

export type RecoveryCommand = RecordRecovery | RecordDiscard | RecordForget;

export const decide = (command: RecoveryCommand, state: RecoveryState): readonly RecoveryEvent[] => {
  if (state.recorded) return [];
  switch (command.type) {
    case 'RecordDiscard':
      return [{ type: 'DiscardAsked', data: command.data }];
    case 'RecordForget':
      return [{ type: 'ForgetAsked', data: command.data }];
    default:
      return [{ type: 'RecoveryAsked', data: command.data }];
  }
};

/** One stream per request: one that is repeated under its key is recorded once. */
export const recoveryAggregate: AggregateDefinition<RecoveryState, RecoveryCommand, RecoveryEvent> = {
  name: recoveryAggregateName,
  decider: { initialState, decide, evolve },
};
