import { limits, type SessionEnding } from '@bindery/contracts';
import { type AggregateDefinition, assertNever } from '@bindery/event-sourcing';
import type { SessionEvent } from './events.ts';
import { evolve, initialState, type SessionsState, sessionsAggregateName } from './state.ts';

type Started = Extract<SessionEvent, { type: 'SessionStarted' }>['data'];

/** Commands on the sessions of one user. */
export type SessionCommand =
  | { readonly type: 'StartSession'; readonly data: Started }
  | {
      readonly type: 'EndSessions';
      readonly data: {
        readonly userId: string;
        /** Which: absent, all of them. */
        readonly sessionIds?: readonly string[];
        /** Only those that this organization's identity provider vouched for. */
        readonly organizationId?: string;
        /** Of these, only those of this provider, and those of which it is not known whose they are. */
        readonly providerId?: string;
        readonly reason: SessionEnding;
        readonly endedAt: string;
      };
    };

export const decide = (command: SessionCommand, state: SessionsState): readonly SessionEvent[] => {
  switch (command.type) {
    case 'StartSession':
      return start(command.data, state);
    case 'EndSessions': {
      const { userId, sessionIds, organizationId, providerId, reason, endedAt } = command.data;
      const meant = [...state.sessions]
        .filter(([id]) => sessionIds === undefined || sessionIds.includes(id))
        .filter(([, session]) => organizationId === undefined || session.organizationId === organizationId)
        .filter(([, session]) => providerId === undefined || (session.providerId ?? providerId) === providerId)
        .map(([id]) => id);
      return ended(userId, meant, reason, endedAt);
    }
    default:
      return assertNever(command);
  }
};

const ended = (
  userId: string,
  sessionIds: readonly string[],
  reason: SessionEnding,
  endedAt: string,
): readonly SessionEvent[] =>
  sessionIds.length === 0 ? [] : [{ type: 'SessionsEnded', data: { userId, sessionIds, reason, endedAt } }];

/** What has expired is put away here, and the oldest ones make room: signing in never fails for want of it. */
const start = (data: Started, { sessions }: SessionsState): readonly SessionEvent[] => {
  if (sessions.has(data.sessionId)) return [];
  const { userId, startedAt } = data;
  const isOver = ({ expiresAt }: { readonly expiresAt: string }): boolean =>
    Date.parse(expiresAt) <= Date.parse(startedAt);
  const over = [...sessions].filter(([, session]) => isOver(session)).map(([id]) => id);
  const left = [...sessions].filter(([, session]) => !isOver(session)).map(([id]) => id);
  const surplus = left.slice(0, Math.max(0, left.length - (limits.session.perUser - 1)));
  return [
    ...ended(userId, over, 'expired', startedAt),
    ...ended(userId, surplus, 'superseded', startedAt),
    { type: 'SessionStarted', data },
  ];
};

/** The sessions of one user. */
export const sessionsAggregate: AggregateDefinition<SessionsState, SessionCommand, SessionEvent> = {
  name: sessionsAggregateName,
  decider: { initialState, decide, evolve },
};
