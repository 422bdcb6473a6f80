import {
  type getTeamInOrganizationById,
  limits,
  type listTeamMembersInOrganizationById,
  type listTeamsInOrganizationById,
} from '@bindery/contracts';
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
import { searchable } from '../../../shared/text.ts';
import { memberId } from '../../members/index.ts';
import { organizationPermissions } from '../../organizations/index.ts';
import { requireMembership, requireTeam, teamPermissions } from '../access.ts';
import type { TeamRoutesDeps } from '../deps.ts';
import { placesInOrganization, rolesInTeams, teamsById, teamsInOrder } from '../queries.ts';
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
    const { owner, title } = query;
    const list = listIdentity('listTeamsInOrganizationById', { organizationId, owner, title });
    const { items, ...rest } =
      owner === undefined && title === undefined
        ? await fromIndex(deps, organizationId, list, query)
        : await filtered(deps, organizationId, list, query);
    return { status: 200, body: { ...rest, items: [...(await deps.present(context, items))] } };
  };

interface ListQuery {
  readonly page?: string;
  readonly limit?: number;
  readonly owner?: string;
  readonly title?: string;
}

const fromIndex = async (deps: TeamRoutesDeps, organizationId: string, list: string, query: ListQuery) => {
  const where = { organizationId };
  const orderBy = [{ field: 'sortTitle', direction: 'asc' }] as const;
  const page = await paginate<TeamDocument>(deps.live.teams(), list, { where, orderBy }, query, deps.cursors);
  return { ...page, items: page.items.map(({ document }) => document) };
};

/** Looks through the teams that can match, in the order of the list, and keeps one page of those that do. */
const filtered = async (deps: TeamRoutesDeps, organizationId: string, list: string, query: ListQuery) => {
  const term = searchable(query.title ?? '');
  const owned = query.owner === undefined ? 'all' : await managedBy(deps, organizationId, query.owner);
  const { limit = limits.page.default, page } = query;
  const [key, id] = page === undefined ? [] : deps.cursors.decode(list, page).map(String);
  const found: TeamDocument[] = [];
  let count = 0;
  const teams = owned === 'all' ? teamsInOrder(deps.live, organizationId) : await theseInOrder(deps, owned);
  for await (const team of teams) {
    if (team.organizationId !== organizationId || !team.sortTitle.includes(term)) continue;
    count += 1;
    const isBeyond =
      key === undefined ||
      compare(team.sortTitle, key) > 0 ||
      (team.sortTitle === key && compare(team.id, id ?? '') > 0);
    if (isBeyond && found.length <= limit) found.push(team);
  }
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (last === undefined || found.length <= limit) return { items, count };
  return { items, count, next: { page: deps.cursors.encode(list, [last.sortTitle, last.id]) } };
};

const theseInOrder = async ({ live }: TeamRoutesDeps, ids: readonly string[]): Promise<readonly TeamDocument[]> =>
  [...(await teamsById(live, ids)).values()]
    .map(({ document }) => document)
    .sort((a, b) => compare(a.sortTitle, b.sortTitle) || compare(a.id, b.id));

/** By code point, as the read store sorts. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The teams that a member manages, `all` for administrators; nobody but members manages any. */
const managedBy = async (
  deps: TeamRoutesDeps,
  organizationId: string,
  userId: string,
): Promise<readonly string[] | 'all'> => {
  const member = await deps.members().get(memberId(organizationId, userId));
  if (member === undefined) return [];
  if (member.document.role === 'admin') return 'all';
  const places = (await placesInOrganization(deps.live, organizationId, [userId])).get(userId) ?? [];
  return places.flatMap(({ role, teamId }) => (role === 'owner' ? [teamId] : []));
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
