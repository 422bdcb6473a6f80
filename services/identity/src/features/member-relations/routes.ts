import {
  limits,
  type listSpacesForOrganizationMember,
  listSpacesOfMember,
  type listTeamsForOrganizationMember,
  type memberRelationOperations,
} from '@bindery/contracts';
import {
  type CursorCodec,
  forbidden,
  type HandlersFor,
  listIdentity,
  membershipIn,
  notFound,
  type OperationHandler,
  type Principal,
  type ServiceClient,
} from '@bindery/service-kit';
import { pageOf } from '../../shared/page-of.ts';
import { searchable } from '../../shared/text.ts';
import { type LiveMembers, type MemberDocument, memberId, type TeamsOfMembers } from '../members/index.ts';
import { organizationPermissions } from '../organizations/index.ts';
import type { PresentTeams, TeamDocument } from '../teams/index.ts';

export interface RelationsDeps {
  readonly members: LiveMembers;
  readonly services: ServiceClient;
  readonly cursors: CursorCodec;
  readonly teamsOfMembers: TeamsOfMembers;
  readonly teamsById: (ids: readonly string[]) => Promise<ReadonlyMap<string, { readonly document: TeamDocument }>>;
  readonly presentTeams: PresentTeams;
}

/**
 * A member whose teams and spaces the caller may see: itself, or any for administrators.
 * @throws Problem 404, 403
 */
const visibleMember = async (
  deps: Pick<RelationsDeps, 'members'>,
  principal: Principal,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  allowed: (permissions: ReturnType<typeof organizationPermissions>) => boolean,
): Promise<MemberDocument> => {
  const membership = membershipIn(principal, organizationId);
  if (membership === undefined) throw notFound('organization');
  if (userId !== principal.id && !allowed(organizationPermissions(membership)))
    throw forbidden('member.others', 'You may not see this of other members.');
  const stored = await deps.members().get(memberId(organizationId, userId));
  if (stored === undefined) throw notFound('member');
  return stored.document;
};

/** GET /orgs/{organizationId}/members/{userId}/spaces */
const listSpacesOfMemberRoute =
  (deps: RelationsDeps): OperationHandler<typeof listSpacesForOrganizationMember> =>
  async (context, { params, query }) => {
    const { role } = await visibleMember(deps, context.principal, params, ({ admin }) => admin);
    const { organizationId, userId } = params;
    const teams = (await deps.teamsOfMembers(organizationId, [userId])).get(userId) ?? [];
    const body = { ...query, organizationId, userId, role, teams: teams.map(({ teamId }) => teamId) };
    const answer = await deps.services.call(listSpacesOfMember, context, { params: {}, query: {}, body });
    return { status: 200, body: answer.body };
  };

/** GET /orgs/{organizationId}/members/{userId}/teams; the teams of one person are few. */
const listTeamsOfMemberRoute =
  (deps: RelationsDeps): OperationHandler<typeof listTeamsForOrganizationMember> =>
  async (context, { params, query }) => {
    await visibleMember(deps, context.principal, params, ({ listTeams }) => listTeams);
    const { organizationId, userId } = params;
    const places = (await deps.teamsOfMembers(organizationId, [userId])).get(userId) ?? [];
    const roles = new Map(places.map(({ teamId, role }) => [teamId, role]));
    const term = searchable(query.title ?? '');
    const teams = [...(await deps.teamsById([...roles.keys()])).values()]
      .map(({ document }) => document)
      .filter(({ sortTitle }) => sortTitle.includes(term));
    const { items, ...rest } = pageOf(teams, {
      list: listIdentity('listTeamsForOrganizationMember', { organizationId, userId, title: query.title }),
      keyOf: ({ sortTitle }) => sortTitle,
      idOf: ({ id }) => id,
      order: 'asc',
      limit: query.limit ?? limits.page.default,
      page: query.page,
      cursors: deps.cursors,
    });
    const shown = await deps.presentTeams(context, items);
    return {
      status: 200,
      body: { ...rest, items: shown.map((team) => ({ team, member: { role: roles.get(team.id) ?? 'member' } })) },
    };
  };

/** Handlers of what a member has elsewhere. */
export const memberRelationRoutes = (deps: RelationsDeps): HandlersFor<typeof memberRelationOperations> => ({
  listSpacesForOrganizationMember: listSpacesOfMemberRoute(deps),
  listTeamsForOrganizationMember: listTeamsOfMemberRoute(deps),
});
