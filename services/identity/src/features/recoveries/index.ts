export { type RecoveryCommand, recoveryAggregate } from './decider.ts';
export type { RecoveryEvent } from './events.ts';
export { recordRecoveryRoute } from './routes.ts';
