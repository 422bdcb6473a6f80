import type { LiveCollection } from '@bindery/event-sourcing';
import type { Principal, SignedInBy } from '@bindery/service-kit';
import { isAdministrator } from './features/instance/index.ts';
import { type LiveMembers, membershipsOf } from './features/members/index.ts';
import type { LiveOrganizations } from './features/organizations/index.ts';
import { keepsOwnRights, reachable } from './features/saml/index.ts';
import { type LiveTeams, placesOfUser } from './features/teams/index.ts';
import { type LiveTokens, type LoadPrincipal, tokenByHash } from './features/tokens/index.ts';
import type { LiveUsers } from './features/users/index.ts';

/**
 * Puts a principal together from what the features know: the memberships of a user, and its rights.
 * @returns undefined for somebody who was erased, whatever tokens and sessions an erasure at the same time missed
 */
export const loadOwner =
  (deps: {
    readonly members: LiveMembers;
    readonly organizations: LiveOrganizations;
    readonly teams: LiveTeams;
    readonly users: LiveUsers;
    readonly live: LiveCollection;
  }) =>
  async (id: string, tokenId: string, signedInBy?: SignedInBy): Promise<Principal | undefined> => {
    const [user, all, places, instanceAdmin] = await Promise.all([
      deps.users().get(id),
      membershipsOf(deps.members, id),
      placesOfUser(deps.teams, id),
      isAdministrator(deps.live, id),
    ]);
    // Everybody has an email for as long as they can be told who they are.
    if (user?.document.email === undefined) return undefined;
    const enforcing = await enforcingSso(deps.organizations, Object.keys(all));
    const memberships = reachable(all, signedInBy, enforcing);
    // Only memberships carry teams: a place in a team of an organization that somebody left gives nothing.
    const teams = Map.groupBy(places, ({ organizationId }) => organizationId);
    const organizations = Object.fromEntries(
      Object.entries(memberships).map(([organizationId, membership]) => [
        organizationId,
        { ...membership, teams: (teams.get(organizationId) ?? []).map(({ teamId }) => teamId) },
      ]),
    );
    return {
      kind: 'user',
      id,
      tokenId,
      instanceAdmin: instanceAdmin && keepsOwnRights(signedInBy),
      organizations,
      ...(signedInBy === undefined ? {} : { signedInBy }),
    };
  };

const most = 1000;

/** Which of these organizations let members in through single sign-on only. */
const enforcingSso = async (organizations: LiveOrganizations, ids: readonly string[]): Promise<ReadonlySet<string>> => {
  const enforcing = new Set<string>();
  for (let start = 0; start < ids.length; start += most)
    for (const [id, { document }] of await organizations().getMany(ids.slice(start, start + most)))
      if (document.sso) enforcing.add(id);
  return enforcing;
};

/** The principals that tokens stand for. */
export const loadPrincipal = (
  tokens: LiveTokens,
  principalOf: (userId: string, tokenId: string, signedInBy?: SignedInBy) => Promise<Principal | undefined>,
): LoadPrincipal => ({
  owner: async (tokenHash) => (await tokenByHash(tokens, tokenHash))?.userId,
  async all(tokenHash) {
    const token = await tokenByHash(tokens, tokenHash);
    if (token === undefined) return undefined;
    const { id, userId, expiresAt, scopes, signedInBy } = token;
    const principal = await principalOf(userId, id, signedInBy);
    if (principal === undefined) return undefined;
    return {
      principal: scopes === undefined ? principal : { ...principal, scopes },
      expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt),
    };
  },
});
