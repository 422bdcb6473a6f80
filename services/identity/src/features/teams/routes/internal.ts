import type { listAccessSubjects, loadTeams, resolveSubjects } from '@bindery/contracts';
import { listIdentity, membershipIn, type OperationHandler, paginate } from '@bindery/service-kit';
import type { MemberDocument } from '../../members/index.ts';
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

/** Members with role and teams, by the time they joined. */
export const listAccessSubjectsRoute =
  (deps: TeamRoutesDeps): OperationHandler<typeof listAccessSubjects> =>
  async (_context, { body: { organizationId, ...request } }) => {
    const { items, ...rest } = await paginate<MemberDocument>(
      deps.members(),
      listIdentity('listAccessSubjects', { organizationId }),
      { where: { organizationId }, orderBy: [{ field: 'joinedAt', direction: 'asc' }] },
      request,
      deps.cursors,
    );
    const userIds = items.map(({ document }) => document.userId);
    const places = await placesInOrganization(deps.live, organizationId, userIds);
    const subjects = items.map(({ document: { userId, role } }) => ({
      userId,
      role,
      teams: (places.get(userId) ?? []).map(({ teamId }) => teamId),
    }));
    return { status: 200, body: { ...rest, items: subjects } };
  };
