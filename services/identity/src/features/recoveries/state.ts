import type { RecoveryEvent } from './events.ts';

/** Whether it was recorded. */
export interface RecoveryState {
  readonly recorded: boolean;
}

/** Prefix of the streams, one per request. */
export const recoveryAggregateName = 'identity.recovery';

export const initialState = (): RecoveryState => ({ recorded: false });

export const evolve = (_state: RecoveryState, _event: RecoveryEvent): RecoveryState => ({ recorded: true });
