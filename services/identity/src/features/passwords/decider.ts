import { type AggregateDefinition, assertNever } from '@bindery/event-sourcing';
import { conflict, Problem } from '@bindery/service-kit';
import type { PasswordEvent } from './events.ts';
import { evolve, initialState, type PasswordState, passwordAggregateName } from './state.ts';

type EventData<T extends PasswordEvent['type']> = Extract<PasswordEvent, { type: T }>['data'];

/** Commands on the ways in of one user. */
export type PasswordCommand =
  | { readonly type: 'IssueSignInLink'; readonly data: EventData<'SignInLinkIssued'> }
  /** Uses a link, and sets a password with it when one is given. */
  | {
      readonly type: 'UseSignInLink';
      readonly data: EventData<'SignInLinkUsed'> & { readonly password?: EventData<'PasswordSet'> };
    }
  /** Replaces the password that was checked; not one that came in between. */
  | {
      readonly type: 'ReplacePassword';
      readonly data: EventData<'PasswordSet'> & { readonly replaces: string };
    };

export const decide = (command: PasswordCommand, state: PasswordState): readonly PasswordEvent[] => {
  switch (command.type) {
    case 'IssueSignInLink':
      return state.links.has(command.data.linkId) ? [] : [{ type: 'SignInLinkIssued', data: command.data }];
    case 'UseSignInLink': {
      const { password, ...used } = command.data;
      const expiresAt = state.links.get(used.linkId);
      if (expiresAt === undefined || Date.parse(expiresAt) <= Date.parse(used.usedAt)) throw linkRefused();
      const set = password === undefined ? [] : [{ type: 'PasswordSet' as const, data: password }];
      return [{ type: 'SignInLinkUsed', data: used }, ...set];
    }
    case 'ReplacePassword': {
      const { replaces, ...set } = command.data;
      if (state.password?.passwordId !== replaces)
        throw conflict('password.changed', 'The password was changed meanwhile.');
      return [{ type: 'PasswordSet', data: set }];
    }
    default:
      return assertNever(command);
  }
};

/** 401: one answer for links that are wrong, used or too old. */
export const linkRefused = (): Problem =>
  new Problem('unauthenticated', 'sign_in.link', 'The link does not work (any more); ask for another one.');

/** The ways in of one user. */
export const passwordAggregate: AggregateDefinition<PasswordState, PasswordCommand, PasswordEvent> = {
  name: passwordAggregateName,
  decider: { initialState, decide, evolve },
};
