import type { LiveCollection } from '@bindery/event-sourcing';
import { isAdministrator } from './features/instance/index.ts';
import { type LiveMembers, membershipsOf } from './features/members/index.ts';
import { type LiveTokens, type LoadPrincipal, tokenByHash } from './features/tokens/index.ts';

/** Puts a principal together from what the features know: the token, the memberships of its owner, and its rights. */
export const loadPrincipal = (deps: {
  readonly tokens: LiveTokens;
  readonly members: LiveMembers;
  readonly live: LiveCollection;
}): LoadPrincipal => ({
  owner: async (tokenHash) => (await tokenByHash(deps.tokens, tokenHash))?.userId,
  async all(tokenHash) {
    const token = await tokenByHash(deps.tokens, tokenHash);
    if (token === undefined) return undefined;
    const { id: tokenId, userId: id, expiresAt } = token;
    const [organizations, instanceAdmin] = await Promise.all([
      membershipsOf(deps.members, id),
      isAdministrator(deps.live, id),
    ]);
    return {
      principal: { kind: 'user', id, tokenId, instanceAdmin, organizations },
      expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt),
    };
  },
});
