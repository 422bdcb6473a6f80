import { ignoreUnknown } from '@bindery/event-sourcing';
import type { SessionEvent } from './events.ts';

/** A session that was not ended. */
export interface OpenSession {
  readonly startedAt: string;
  readonly expiresAt: string;
  readonly organizationId: string | undefined;
  readonly providerId: string | undefined;
}

/** The sessions of a user by id, oldest first; at most `limits.session.perUser`. */
export interface SessionsState {
  readonly sessions: ReadonlyMap<string, OpenSession>;
}

/** Prefix of the streams of sessions, one per user: so that their number can be limited, and all can be ended at once. */
export const sessionsAggregateName = 'identity.sessions';

export const initialState = (): SessionsState => ({ sessions: new Map() });

export const evolve = (state: SessionsState, event: SessionEvent): SessionsState => {
  switch (event.type) {
    case 'SessionStarted': {
      const { sessionId, startedAt, expiresAt, organizationId, providerId } = event.data;
      const session = { startedAt, expiresAt, organizationId, providerId };
      return { sessions: new Map([...state.sessions, [sessionId, session]]) };
    }
    case 'SessionsEnded': {
      const sessions = new Map(state.sessions);
      for (const id of event.data.sessionIds) sessions.delete(id);
      return { sessions };
    }
    default:
      return ignoreUnknown(state, event);
  }
};
