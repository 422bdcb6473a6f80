export { denialAggregate, type RecordDenials } from './decider.ts';
export type { DenialEvent } from './events.ts';
export { reportDenialsRoute } from './routes.ts';
