import type { LiveCollection } from '@bindery/event-sourcing';
import type { Query, Scalar, Where } from '@bindery/read-store';
import {
  type TeamDocument,
  type TeamMemberDocument,
  teamCollection,
  teamMemberCollection,
  teamMemberId,
} from './read-model.ts';

/** Opens what is read of teams now; asked again for every request, since a rebuild may have switched. */
export interface LiveTeams {
  readonly teams: () => ReturnType<typeof openTeams>;
  readonly teamMembers: () => ReturnType<typeof openTeamMembers>;
}

export const openTeams = (live: LiveCollection) => live<TeamDocument>(teamCollection);
export const openTeamMembers = (live: LiveCollection) => live<TeamMemberDocument>(teamMemberCollection);

/** @param live how collections are opened */
export const liveTeams = (live: LiveCollection): LiveTeams => ({
  teams: () => openTeams(live),
  teamMembers: () => openTeamMembers(live),
});

const most = 1000;

/** All documents that fit, in pages underneath, by id. */
const all = async <T>(
  collection: Pick<ReturnType<typeof openTeams>, 'query'> | Pick<ReturnType<typeof openTeamMembers>, 'query'>,
  where: Where,
): Promise<readonly T[]> => {
  const found: T[] = [];
  for (let after: Query['after']; ; ) {
    const rows = await collection.query({ where, limit: most, ...(after === undefined ? {} : { after }) });
    for (const { document } of rows) found.push(document as T);
    const last = rows.at(-1);
    if (last === undefined || rows.length < most) return found;
    after = [last.id] satisfies readonly Scalar[];
  }
};

/** Every place of a user in teams, of all its organizations: one indexed query, for its principal. */
export const placesOfUser = (live: LiveTeams, userId: string): Promise<readonly TeamMemberDocument[]> =>
  all<TeamMemberDocument>(live.teamMembers(), { userId });

/** Places in teams of members of one organization, by user id; who is in no team is absent. */
export const placesInOrganization = async (
  live: LiveTeams,
  organizationId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, readonly TeamMemberDocument[]>> => {
  const places = new Map<string, TeamMemberDocument[]>();
  for (let start = 0; start < userIds.length; start += most) {
    const where = { organizationId, userId: { in: userIds.slice(start, start + most) } };
    for (const place of await all<TeamMemberDocument>(live.teamMembers(), where)) {
      const known = places.get(place.userId);
      if (known === undefined) places.set(place.userId, [place]);
      else known.push(place);
    }
  }
  return places;
};

/** How many teams each of these members is in; who is in none is absent. */
export const teamCounts = async (
  live: LiveTeams,
  organizationId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, number>> =>
  new Map([...(await placesInOrganization(live, organizationId, userIds))].map(([id, places]) => [id, places.length]));

/** Teams by id; those that do not exist are absent. */
export const teamsById = async (
  live: LiveTeams,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { readonly revision: number; readonly document: TeamDocument }>> => {
  const found = new Map<string, { readonly revision: number; readonly document: TeamDocument }>();
  for (let start = 0; start < ids.length; start += most)
    for (const [id, stored] of await live.teams().getMany(ids.slice(start, start + most))) found.set(id, stored);
  return found;
};

/** What a user is in each of these teams; those it is not in are absent. */
export const rolesInTeams = async (
  live: LiveTeams,
  teamIds: readonly string[],
  userId: string,
): Promise<ReadonlyMap<string, TeamMemberDocument['role']>> => {
  const roles = new Map<string, TeamMemberDocument['role']>();
  for (let start = 0; start < teamIds.length; start += most) {
    const ids = teamIds.slice(start, start + most).map((teamId) => teamMemberId(teamId, userId));
    for (const { document } of (await live.teamMembers().getMany(ids)).values())
      roles.set(document.teamId, document.role);
  }
  return roles;
};

/** Whether a user owns a team of an organization (the organization's permission `ownTeam`). */
export const ownsTeam = async (live: LiveTeams, organizationId: string, userId: string): Promise<boolean> =>
  ((await placesInOrganization(live, organizationId, [userId])).get(userId) ?? []).some(({ role }) => role === 'owner');

/** The organizations in which a user owns a team. */
export const organizationsOfOwner = async (live: LiveTeams, userId: string): Promise<ReadonlySet<string>> =>
  new Set(
    (await placesOfUser(live, userId)).flatMap(({ role, organizationId }) =>
      role === 'owner' ? [organizationId] : [],
    ),
  );
