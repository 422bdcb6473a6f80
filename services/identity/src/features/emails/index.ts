export { emailAggregate, emailTaken, type ReserveEmail } from './decider.ts';
export type { EmailEvent, EmailReserved } from './events.ts';
export { type EmailState, emailAggregateName } from './state.ts';
