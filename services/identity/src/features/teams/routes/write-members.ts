import type {
  addMemberToOrganizationTeamById,
  deleteMemberFromOrganizationTeamById,
  updateMembersInOrganizationTeam,
} from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { notFound, type OperationContext, type OperationHandler } from '@bindery/service-kit';
import { requireMembership } from '../access.ts';
import type { MemberChanges, TeamCommand } from '../decider.ts';
import type { TeamRoutesDeps } from '../deps.ts';
import { forgetAll, membersAmong, requireMembers } from './people.ts';
import { requireManager } from './write-teams.ts';

interface TeamParams {
  readonly organizationId: string;
  readonly teamId: string;
}

/** One command for all changes, after which everybody concerned is decided on anew. @returns whether anything changed */
const change = async (
  deps: TeamRoutesDeps,
  context: OperationContext,
  { organizationId, teamId }: TeamParams,
  changes: MemberChanges,
): Promise<boolean> => {
  const params = { organizationId, teamId };
  const { events } = await deps.repository.handle(
    teamId,
    (state): TeamCommand => {
      requireManager(state, context.principal, params);
      return { type: 'ChangeTeamMembers', data: { ...params, ...changes, at: context.now.toISOString() } };
    },
    commandMetadata(context, organizationId),
  );
  await forgetAll(deps, [...new Set([...changes.add.map(({ userId }) => userId), ...changes.remove])]);
  return events.length > 0;
};

/**
 * Takes out again who left the organization between the look at its members and the change of the team: then nobody
 * else does, since the reactor that follows leavers was there before.
 */
const takeOutLeavers = async (
  deps: TeamRoutesDeps,
  context: OperationContext,
  params: TeamParams,
  added: readonly string[],
): Promise<void> => {
  const known = await membersAmong(deps, params.organizationId, added);
  const left = added.filter((userId) => !known.has(userId));
  if (left.length > 0) await change(deps, context, params, { add: [], remove: left });
};

/** Refuses before anything about the people of the request is looked at. @throws Problem 404, 403 */
const requireManagerNow = async (deps: TeamRoutesDeps, context: OperationContext, params: TeamParams) => {
  requireMembership(context.principal, params.organizationId);
  const { state } = await deps.repository.load(params.teamId);
  requireManager(state, context.principal, params);
};

/** PUT /orgs/{organizationId}/teams/{teamId}/members */
export const updateTeamMembersRoute =
  (deps: TeamRoutesDeps): OperationHandler<typeof updateMembersInOrganizationTeam> =>
  async (context, { params, body }) => {
    await requireManagerNow(deps, context, params);
    // Ids hold no @, and every email does.
    const resolve = (named: string): Promise<string | undefined> =>
      named.includes('@') ? deps.userOfEmail(named) : Promise.resolve(named);
    const adding: { userId: string | undefined; at: string }[] = [];
    for (const [index, named] of (body.add ?? []).entries())
      adding.push({ userId: await resolve(named), at: `body.add[${index}]` });
    const remove: string[] = [];
    for (const named of body.remove ?? []) {
      const userId = await resolve(named);
      if (userId !== undefined) remove.push(userId);
    }
    const roles = Object.entries(body.memberships ?? {});
    const leaving = new Set(remove);
    const staying = [...adding, ...roles.map(([userId]) => ({ userId, at: `body.memberships.${userId}` }))].filter(
      ({ userId }) => userId === undefined || !leaving.has(userId),
    );
    await requireMembers(deps, params.organizationId, staying);
    const add = [
      ...adding.flatMap(({ userId }) => (userId === undefined ? [] : [{ userId }])),
      ...roles.map(([userId, { role }]) => ({ userId, role })),
    ];
    await change(deps, context, params, { add, remove });
    await takeOutLeavers(
      deps,
      context,
      params,
      add.map(({ userId }) => userId).filter((userId) => !leaving.has(userId)),
    );
    return { status: 204 };
  };

/** PUT /orgs/{organizationId}/teams/{teamId}/members/{userId} */
export const addTeamMemberRoute =
  (deps: TeamRoutesDeps): OperationHandler<typeof addMemberToOrganizationTeamById> =>
  async (context, { params: { userId, ...params }, body }) => {
    await requireManagerNow(deps, context, params);
    if (!(await membersAmong(deps, params.organizationId, [userId])).has(userId)) throw notFound('member');
    const role = body?.role;
    await change(deps, context, params, { add: [role === undefined ? { userId } : { userId, role }], remove: [] });
    await takeOutLeavers(deps, context, params, [userId]);
    return { status: 204 };
  };

/** DELETE /orgs/{organizationId}/teams/{teamId}/members/{userId} */
export const removeTeamMemberRoute =
  (deps: TeamRoutesDeps): OperationHandler<typeof deleteMemberFromOrganizationTeamById> =>
  async (context, { params: { userId, ...params } }) => {
    requireMembership(context.principal, params.organizationId);
    const changed = await change(deps, context, params, { add: [], remove: [userId] });
    return changed ? { status: 205 } : { status: 204 };
  };
