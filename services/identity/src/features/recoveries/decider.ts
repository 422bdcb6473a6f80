import type { AggregateDefinition } from '@bindery/event-sourcing';
import type { RecoveryEvent } from './events.ts';
import { evolve, initialState, type RecoveryState, recoveryAggregateName } from './state.ts';

/** Records what an administrator asks for. */
export interface RecordRecovery {
  readonly type: 'RecordRecovery';
  readonly data: RecoveryEvent['data'];
}

export const decide = ({ data }: RecordRecovery, state: RecoveryState): readonly RecoveryEvent[] =>
  state.recorded ? [] : [{ type: 'RecoveryAsked', data }];

/** One stream per request: one that is repeated under its key is recorded once. */
export const recoveryAggregate: AggregateDefinition<RecoveryState, RecordRecovery, RecoveryEvent> = {
  name: recoveryAggregateName,
  decider: { initialState, decide, evolve },
};
