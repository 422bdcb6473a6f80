export { type SessionCommand, sessionsAggregate } from './decider.ts';
export type { SessionEvent } from './events.ts';
export { createSessionsFeature } from './feature.ts';
export { forEveryVouched, type LiveSessions, openSessions, sessionsProjection } from './read-model.ts';
export {
  type BegunSession,
  ownMetadata,
  type SessionClient,
  type SessionContext,
  type SessionLifetimes,
  type Sessions,
} from './sessions.ts';
export type { SessionsState } from './state.ts';
