import type { listAccessSubjects, loadTeams, resolveSubjects } from '@bindery/contracts';
import { listIdentity, membershipIn, type OperationHandler, paginate } from '@bindery/service-kit';
import { type MemberDocument, memberId } from '../../members/index.ts';
import type { TeamRoutesDeps } from '../deps.ts';
import { placesInOrganization, teamsById } from '../queries.ts';
import { membersAmong } from './people.ts';

/** Teams to embed: those of the caller's organizations, and all for services and administrators of the instance. */
export const loadTeamsRoute =
  (deps: TeamRoutesDeps): OperationHandler<typeof loadTeams> =>
  async (context, { body: { ids } }) => {
    const { principal } = context;
    const all = principal.kind === 'service' || principal.instanceAdmin;
    const documents = [...(await teamsById(deps.live, ids)).values()]
      .map(({ document }) => document)
      .filter(({ organizationId }) => all || membershipIn(principal, organizationId) !== undefined);
    return { status: 200, body: { teams: [...(await deps.present(context, documents))] } };
  };

/** Who of the named belongs to an organization. */
export const resolveSubjectsRoute =
  (deps: TeamRoutesDeps): OperationHandler<typeof resolveSubjects> =>
  async (_context, { body: { organizationId, users = [], teams = [] } }) => {
    const [known, found] = await Promise.all([
      membersAmong(deps, organizationId, users),
      teamsById(deps.live, [...new Set(teams)]),
    ]);
    const present = [...found.values()].filter(({ document }) => document.organizationId === organizationId);
    return { status: 200, body: { users: [...known], teams: present.map(({ document }) => document.id) } };
  };

/** Members with role and teams: all by the time they joined, or those of the named. */
export const listAccessSubjectsRoute =
  (deps: TeamRoutesDeps): OperationHandler<typeof listAccessSubjects> =>
  async (_context, { body: { organizationId, users, ...request } }) => {
    if (users !== undefined) return { status: 200, body: { items: await subjectsAmong(deps, organizationId, users) } };
    const { items, ...rest } = await paginate<MemberDocument>(
      deps.members(),
      listIdentity('listAccessSubjects', { organizationId }),
      { where: { organizationId }, orderBy: [{ field: 'joinedAt', direction: 'asc' }] },
      request,
      deps.cursors,
    );
    const documents = items.map(({ document }) => document);
    return { status: 200, body: { ...rest, items: await withTeams(deps, organizationId, documents) } };
  };

const withTeams = async ({ live }: TeamRoutesDeps, organizationId: string, members: readonly MemberDocument[]) => {
  const userIds = members.map(({ userId }) => userId);
  const places = await placesInOrganization(live, organizationId, userIds);
  return members.map(({ userId, role }) => ({
    userId,
    role,
    teams: (places.get(userId) ?? []).map(({ teamId }) => teamId),
  }));
};

const subjectsAmong = async (deps: TeamRoutesDeps, organizationId: string, users: readonly string[]) => {
  const ids = [...new Set(users)].map((userId) => memberId(organizationId, userId));
  const found = [...(await deps.members().getMany(ids)).values()].map(({ document }) => document);
  return withTeams(deps, organizationId, found);
};
