import type { LiveCollection } from '@bindery/event-sourcing';
import type { Principal } from '@bindery/service-kit';
import { isAdministrator } from './features/instance/index.ts';
import { type LiveMembers, membershipsOf } from './features/members/index.ts';
import { type LiveTokens, type LoadPrincipal, tokenByHash } from './features/tokens/index.ts';

/** Puts a principal together from what the features know: the memberships of a user, and its rights. */
export const loadOwner =
  (deps: { readonly members: LiveMembers; readonly live: LiveCollection }) =>
  async (id: string, tokenId: string): Promise<Principal> => {
    const [organizations, instanceAdmin] = await Promise.all([
      membershipsOf(deps.members, id),
      isAdministrator(deps.live, id),
    ]);
    return { kind: 'user', id, tokenId, instanceAdmin, organizations };
  };

/** The principals that tokens stand for. */
export const loadPrincipal = (
  tokens: LiveTokens,
  principalOf: (userId: string, tokenId: string) => Promise<Principal>,
): LoadPrincipal => ({
  owner: async (tokenHash) => (await tokenByHash(tokens, tokenHash))?.userId,
  async all(tokenHash) {
    const token = await tokenByHash(tokens, tokenHash);
    if (token === undefined) return undefined;
    const { id, userId, expiresAt, scopes } = token;
    const principal = await principalOf(userId, id);
    return {
      principal: scopes === undefined ? principal : { ...principal, scopes },
      expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt),
    };
  },
});
