import type { DenialEvent } from './events.ts';

/** Whether the report was recorded. */
export interface DenialState {
  readonly recorded: boolean;
}

/** Prefix of the streams of reports. */
export const denialAggregateName = 'identity.denial';

export const initialState = (): DenialState => ({ recorded: false });

export const evolve = (_state: DenialState, _event: DenialEvent): DenialState => ({ recorded: true });
