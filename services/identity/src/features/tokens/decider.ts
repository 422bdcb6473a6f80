import { limits } from '@bindery/contracts';
import { type AggregateDefinition, assertNever } from '@bindery/event-sourcing';
import { conflict, invalid } from '@bindery/service-kit';
import type { CredentialsEvent } from './events.ts';
import { type CredentialsState, credentialsAggregateName, evolve, initialState, isUsable } from './state.ts';

type EventData<T extends CredentialsEvent['type']> = Extract<CredentialsEvent, { type: T }>['data'];

/** Commands on the tokens of one user. */
export type CredentialsCommand =
  | { readonly type: 'IssueToken'; readonly data: EventData<'TokenIssued'> }
  /** Issues the token unless one with the same secret works already: how a configured token comes to be. */
  | { readonly type: 'EnsureToken'; readonly data: EventData<'TokenIssued'> }
  | { readonly type: 'RevokeToken'; readonly data: EventData<'TokenRevoked'> };

export const decide = (command: CredentialsCommand, state: CredentialsState): readonly CredentialsEvent[] => {
  switch (command.type) {
    case 'IssueToken':
      return issue(command.data, state);
    case 'EnsureToken': {
      const { tokenHash, issuedAt } = command.data;
      const works = [...state.tokens.values()].some((token) => token.hash === tokenHash && isUsable(token, issuedAt));
      return works ? [] : issue(command.data, state);
    }
    case 'RevokeToken':
      return state.tokens.has(command.data.tokenId) ? [{ type: 'TokenRevoked', data: command.data }] : [];
    default:
      return assertNever(command);
  }
};

/**
 * A token id that is there already is a request repeated after its answer was lost. The secret is gone with that
 * answer, so the token gets the new one.
 */
const issue = (data: EventData<'TokenIssued'>, state: CredentialsState): readonly CredentialsEvent[] => {
  const known = state.tokens.get(data.tokenId);
  if (known?.hash === data.tokenHash) return [];
  if (!isUsable(data, data.issuedAt)) throw invalid('token.expired', '`expiresAt` must be in the future.');
  const usable = [...state.tokens.values()].filter((token) => isUsable(token, data.issuedAt)).length;
  if (known === undefined && usable >= limits.token.perUser)
    throw conflict('token.limit', `A user has at most ${limits.token.perUser} tokens; revoke one first.`);
  return [{ type: 'TokenIssued', data }];
};

/** The tokens of one user. */
export const credentialsAggregate: AggregateDefinition<CredentialsState, CredentialsCommand, CredentialsEvent> = {
  name: credentialsAggregateName,
  decider: { initialState, decide, evolve },
};
