import { type AggregateDefinition, assertNever } from '@bindery/event-sourcing';
import { conflict, notFound } from '@bindery/service-kit';
import type { UserEvent } from './events.ts';
import { evolve, initialState, type UserState, userAggregateName } from './state.ts';

type EventData<T extends UserEvent['type']> = Extract<UserEvent, { type: T }>['data'];

/** Commands on one user. */
export type UserCommand =
  | { readonly type: 'RegisterUser'; readonly data: EventData<'UserRegistered'> }
  | { readonly type: 'EraseUser'; readonly data: EventData<'UserErased'> }
  | { readonly type: 'ChangeUserProfile'; readonly data: EventData<'UserProfileChanged'> };

export const decide = (command: UserCommand, state: UserState): readonly UserEvent[] => {
  switch (command.type) {
    case 'RegisterUser':
      if (state.status === 'none') return [{ type: 'UserRegistered', data: command.data }];
      // The email's reservation names this user: it was completed before, by the request or by the reactor.
      if (state.emailDigest === command.data.emailDigest) return [];
      throw conflict('user.exists', 'A user with this id exists.');
    case 'ChangeUserProfile': {
      if (state.status !== 'active') throw notFound('user');
      const changes = Object.entries(command.data.personal.marks).some(([field, mark]) => state.marks[field] !== mark);
      return changes ? [{ type: 'UserProfileChanged', data: command.data }] : [];
    }
    case 'EraseUser':
      if (state.status === 'none') throw notFound('user');
      return state.status === 'erased' ? [] : [{ type: 'UserErased', data: command.data }];
    default:
      return assertNever(command);
  }
};

/** A person: one stream each. */
export const userAggregate: AggregateDefinition<UserState, UserCommand, UserEvent> = {
  name: userAggregateName,
  decider: { initialState, decide, evolve },
};
