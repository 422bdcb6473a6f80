import type { AggregateDefinition } from '@bindery/event-sourcing';
import type { DenialEvent } from './events.ts';
import { type DenialState, denialAggregateName, evolve, initialState } from './state.ts';

/** Records a report of the gateway. */
export interface RecordDenials {
  readonly type: 'RecordDenials';
  readonly data: { readonly denials: readonly DenialEvent['data'][] };
}

export const decide = ({ data }: RecordDenials, state: DenialState): readonly DenialEvent[] =>
  state.recorded ? [] : data.denials.map((denial) => ({ type: 'AccessDenied', data: denial }));

/** One stream per report: a report that is repeated is recorded once. */
export const denialAggregate: AggregateDefinition<DenialState, RecordDenials, DenialEvent> = {
  name: denialAggregateName,
  decider: { initialState, decide, evolve },
};
