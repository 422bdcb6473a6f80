export { type EmailCommand, emailAggregate, emailTaken } from './decider.ts';
export type { EmailEvent, EmailReleased, EmailReserved } from './events.ts';
export { type EmailState, emailAggregateName } from './state.ts';
