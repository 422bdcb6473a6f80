import { ignoreUnknown } from '@bindery/event-sourcing';
import type { UserEvent } from './events.ts';

/** What decisions about a user need. */
export type UserState =
  | { readonly status: 'none' }
  | { readonly status: 'erased'; readonly emailDigest: string }
  | {
      readonly status: 'active';
      readonly emailDigest: string;
      /** Keyed marks of the present values, by field: tell whether a change changes anything without knowing the values. */
      readonly marks: Readonly<Record<string, string>>;
    };

/** Prefix of the streams of users. */
export const userAggregateName = 'identity.user';

export const initialState = (): UserState => ({ status: 'none' });

export const evolve = (state: UserState, event: UserEvent): UserState => {
  switch (event.type) {
    case 'UserRegistered':
      return { status: 'active', emailDigest: event.data.emailDigest, marks: event.data.personal.marks };
    case 'UserProfileChanged':
      return state.status === 'active' ? { ...state, marks: { ...state.marks, ...event.data.personal.marks } } : state;
    case 'UserErased':
      return state.status === 'active' ? { status: 'erased', emailDigest: state.emailDigest } : state;
    default:
      return ignoreUnknown(state, event);
  }
};
