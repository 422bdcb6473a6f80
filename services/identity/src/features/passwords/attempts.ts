import { type AggregateDefinition, ignoreUnknown } from '@bindery/event-sourcing';

/** Somebody was refused. Without `userId` nobody has the account that was tried. */
export interface SignInFailed {
  readonly type: 'SignInFailed';
  readonly data: {
    readonly userId?: string;
    readonly method: 'password' | 'link' | 'oidc';
    /** A stable word. */
    readonly reason: string;
    /** Address and browser, sealed with the user's key; nothing for unknown accounts. */
    readonly client?: string;
    readonly failedAt: string;
  };
}

/** Records a refusal, unless there were many that day. */
export interface NoteFailure {
  readonly type: 'NoteFailure';
  readonly data: SignInFailed['data'];
}

/** How many refusals are recorded a day: of one user, and of all accounts that do not exist together. */
export const attemptsPerDay = { user: 100, unknown: 500 } as const;

/** Refusals of a day: one stream per user and day, so that none grows without bound. */
export const attemptsAggregate: AggregateDefinition<{ readonly count: number }, NoteFailure, SignInFailed> = {
  name: 'identity.attempts',
  decider: {
    initialState: () => ({ count: 0 }),
    decide: ({ data }, { count }) =>
      count < (data.userId === undefined ? attemptsPerDay.unknown : attemptsPerDay.user)
        ? [{ type: 'SignInFailed', data }]
        : [],
    evolve: (state, event) =>
      event.type === 'SignInFailed' ? { count: state.count + 1 } : ignoreUnknown(state, event as never),
  },
};

/** Id of the stream of a refusal. */
export const attemptsId = (userId: string | undefined, failedAt: string): string =>
  `${userId ?? 'unknown'}-${failedAt.slice(0, 10)}`;
