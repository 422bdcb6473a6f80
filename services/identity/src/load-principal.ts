import type { LiveCollection } from '@bindery/event-sourcing';
import type { Principal } from '@bindery/service-kit';
import { isAdministrator } from './features/instance/index.ts';
import { type LiveMembers, membershipsOf } from './features/members/index.ts';
import { type LiveTeams, placesOfUser } from './features/teams/index.ts';
import { type LiveTokens, type LoadPrincipal, tokenByHash } from './features/tokens/index.ts';

/** Puts a principal together from what the features know: the memberships of a user, and its rights. */
export const loadOwner =
  (deps: { readonly members: LiveMembers; readonly teams: LiveTeams; readonly live: LiveCollection }) =>
  async (id: string, tokenId: string): Promise<Principal> => {
    const [memberships, places, instanceAdmin] = await Promise.all([
      membershipsOf(deps.members, id),
      placesOfUser(deps.teams, id),
      isAdministrator(deps.live, id),
    ]);
    // Only memberships carry teams: a place in a team of an organization that somebody left gives nothing.
    const teams = Map.groupBy(places, ({ organizationId }) => organizationId);
    const organizations = Object.fromEntries(
      Object.entries(memberships).map(([organizationId, membership]) => [
        organizationId,
        { ...membership, teams: (teams.get(organizationId) ?? []).map(({ teamId }) => teamId) },
      ]),
    );
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
