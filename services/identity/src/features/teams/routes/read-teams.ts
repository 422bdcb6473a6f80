import type {
  getTeamInOrganizationById,
  listTeamMembersInOrganizationById,
  listTeamsInOrganizationById,
  QueryOf,
} from '@bindery/contracts';
import type { Stored } from '@bindery/read-store';
import {
  etagOf,
  forbidden,
  listIdentity,
  membershipIn,
  notFound,
  type OperationHandler,
  type Principal,
  paginate,
} from '@bindery/service-kit';
import { pageByScan } from '../../../shared/page-by-scan.ts';
import { searchable } from '../../../shared/text.ts';
import { memberId } from '../../members/index.ts';
import { organizationPermissions } from '../../organizations/index.ts';
import { requireMembership, requireTeam, teamPermissions } from '../access.ts';
import type { TeamRoutesDeps } from '../deps.ts';
import { rolesInTeams } from '../queries.ts';
import type { TeamDocument, TeamMemberDocument } from '../read-model.ts';

/**
 * A team of an organization that the caller may see.
 * @throws Problem 404
 */
export const visibleTeam = async (
  { live }: Pick<TeamRoutesDeps, 'live'>,
  principal: Principal,
  { organizationId, teamId }: { readonly organizationId: string; readonly teamId: string },
) => {
  const membership = requireMembership(principal, organizationId);
  const stored = await live.teams().get(teamId);
  if (stored?.document.organizationId !== organizationId) throw notFound('team');
  const role = (await rolesInTeams(live, [teamId], principal.id)).get(teamId);
  requireTeam(teamPermissions(membership, teamId, role), 'view');
  return stored;
};

/** GET /orgs/{organizationId}/teams/{teamId} */
export const getTeamRoute =
  (deps: TeamRoutesDeps): OperationHandler<typeof getTeamInOrganizationById> =>
  async (context, { params }) => {
    const { document, revision } = await visibleTeam(deps, context.principal, params);
    const [shown] = await deps.present(context, [document]);
    if (shown === undefined) throw notFound('team');
    return { status: 200, body: shown, etag: etagOf(revision) };
  };

/** GET /orgs/{organizationId}/teams */
export const listTeamsRoute =
  (deps: TeamRoutesDeps): OperationHandler<typeof listTeamsInOrganizationById> =>
  async (context, { params: { organizationId }, query }) => {
    const membership = requireMembership(context.principal, organizationId);
    if (!organizationPermissions(membership).listTeams)
      throw forbidden('team.guest', 'Guests cannot list the teams of an organization.');
    const { items, ...rest } = await pageOfTeams(deps, organizationId, query, context.signal);
    const shown = items.map(({ document }) => document);
    return { status: 200, body: { ...rest, items: [...(await deps.present(context, shown))] } };
  };

/** Along the index of titles; a filter is told from each team, since no index has it. */
const pageOfTeams = async (
  deps: TeamRoutesDeps,
  organizationId: string,
  query: QueryOf<typeof listTeamsInOrganizationById>,
  signal: AbortSignal,
): Promise<{
  readonly items: readonly Stored<TeamDocument>[];
  readonly count?: number;
  readonly next?: { readonly page: string };
}> => {
  const { owner, title } = query;
  const list = listIdentity('listTeamsInOrganizationById', { organizationId, owner, title });
  const inOrder = { where: { organizationId }, orderBy: [{ field: 'sortTitle', direction: 'asc' }] } as const;
  const manager = owner === undefined ? undefined : await deps.members().get(memberId(organizationId, owner));
  if (owner !== undefined && manager === undefined) {
    // Nobody but members manages any; a cursor is checked all the same.
    if (query.page !== undefined) deps.cursors.decode(list, query.page);
    return { items: [], count: 0 };
  }
  const term = searchable(title ?? '');
  const isManager = manager !== undefined && manager.document.role !== 'admin';
  if (term === '' && !isManager) return paginate<TeamDocument>(deps.live.teams(), list, inOrder, query, deps.cursors);
  return pageByScan<TeamDocument>({
    collection: deps.live.teams(),
    query: inOrder,
    list,
    cursors: deps.cursors,
    request: query,
    signal,
    async keep(found) {
      const named = found.filter(({ document }) => document.sortTitle.includes(term));
      if (!isManager) return named;
      const ids = named.map(({ id }) => id);
      const roles = await rolesInTeams(deps.live, ids, manager.document.userId);
      return named.filter(({ id }) => roles.get(id) === 'owner');
    },
  });
};

/** GET /orgs/{organizationId}/teams/{teamId}/members */
export const listTeamMembersRoute =
  (deps: TeamRoutesDeps): OperationHandler<typeof listTeamMembersInOrganizationById> =>
  async (context, { params, query }) => {
    const { principal } = context;
    const { organizationId, teamId } = params;
    await visibleTeam(deps, principal, params);
    const { items, ...rest } = await paginate<TeamMemberDocument>(
      deps.live.teamMembers(),
      listIdentity('listTeamMembersInOrganizationById', { organizationId, teamId }),
      { where: { teamId }, orderBy: [{ field: 'addedAt', direction: 'asc' }] },
      query,
      deps.cursors,
    );
    const userIds = items.map(({ document }) => document.userId);
    const found = await deps.members().getMany(userIds.map((userId) => memberId(organizationId, userId)));
    const documents = [...found.values()].map(({ document }) => document);
    const members = new Map(
      (await deps.presentMembers(context, organizationId, documents)).map((member) => [member.id, member]),
    );
    const view = membershipIn(principal, organizationId) !== undefined;
    const shown = items.flatMap(({ document: { userId, role } }) => {
      const organization = members.get(userId);
      // Absent: left the organization a moment ago; the team follows.
      return organization === undefined ? [] : [{ organization, team: { role }, permissions: { view } }];
    });
    return { status: 200, body: { ...rest, items: shown } };
  };
