import { ignoreUnknown } from '@bindery/event-sourcing';
import type { CredentialsEvent } from './events.ts';

/** A token that was not revoked. */
export interface IssuedToken {
  readonly hash: string;
  readonly expiresAt: string | undefined;
}

/** The tokens of a user by id, at most `limits.token.perUser` of them usable. */
export interface CredentialsState {
  readonly tokens: ReadonlyMap<string, IssuedToken>;
}

/** Prefix of the streams of tokens, one per user: so that their number can be limited. */
export const credentialsAggregateName = 'identity.credentials';

export const initialState = (): CredentialsState => ({ tokens: new Map() });

/** Whether a token still works at a time (ISO). */
export const isUsable = (token: { readonly expiresAt?: string | undefined }, at: string): boolean =>
  token.expiresAt === undefined || Date.parse(token.expiresAt) > Date.parse(at);

export const evolve = (state: CredentialsState, event: CredentialsEvent): CredentialsState => {
  switch (event.type) {
    case 'TokenIssued': {
      const { tokenId, tokenHash, issuedAt, expiresAt } = event.data;
      // Expired ones are forgotten here, which keeps the state as small as the limit on usable ones.
      const kept = [...state.tokens].filter(([, token]) => isUsable(token, issuedAt));
      return { tokens: new Map([...kept, [tokenId, { hash: tokenHash, expiresAt }]]) };
    }
    case 'TokenRevoked': {
      const tokens = new Map(state.tokens);
      tokens.delete(event.data.tokenId);
      return { tokens };
    }
    default:
      return ignoreUnknown(state, event);
  }
};
