import type {
  createOrganizationTeam,
  removeTeamFromOrganizationById,
  updateTeamInOrganizationById,
} from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import {
  etagOf,
  forbidden,
  membershipIn,
  notFound,
  type OperationHandler,
  type Principal,
  requireIfMatch,
} from '@bindery/service-kit';
import { searchable } from '../../../shared/text.ts';
import { requireMembership, requireTeam, teamPermissions } from '../access.ts';
import type { TeamCommand } from '../decider.ts';
import type { TeamRoutesDeps } from '../deps.ts';
import { everybodyIn, roleInTeam, type TeamState } from '../state.ts';
import { forgetAll, requireMembers } from './people.ts';

/**
 * Refuses who may not manage a team, as the team is when the command is decided.
 * @throws Problem 404, 403
 */
export const requireManager = (
  state: TeamState,
  principal: Principal,
  { organizationId, teamId }: { readonly organizationId: string; readonly teamId: string },
): void => {
  if (state.status !== 'active' || state.organizationId !== organizationId) throw notFound('team');
  const role = roleInTeam(state.roster, principal.id);
  requireTeam(teamPermissions(membershipIn(principal, organizationId), teamId, role), 'admin');
};

/** PUT /orgs/{organizationId}/teams */
export const createTeamRoute =
  (deps: TeamRoutesDeps): OperationHandler<typeof createOrganizationTeam> =>
  async (context, { params: { organizationId }, body: { title, members = [] } }) => {
    const { principal } = context;
    if (requireMembership(principal, organizationId).role !== 'admin')
      throw forbidden('team.administrators_only', 'Only administrators of the organization create teams.');
    const userIds = [...new Set(members)];
    await requireMembers(
      deps,
      organizationId,
      members.map((userId, index) => ({ userId, at: `body.members[${index}]` })),
    );
    const teamId = context.ids.id();
    const createdAt = context.now.toISOString();
    const data = { organizationId, teamId, title, createdBy: principal.id, members: userIds, at: createdAt };
    const { revision } = await deps.repository.handle(
      teamId,
      { type: 'CreateTeam', data },
      commandMetadata(context, organizationId),
    );
    await forgetAll(deps, userIds);
    const sortTitle = searchable(title);
    const document = { id: teamId, organizationId, title, sortTitle, members: userIds.length, createdAt };
    const [shown] = await deps.present(context, [document]);
    if (shown === undefined) throw notFound('team');
    return { status: 201, body: shown, etag: etagOf(revision) };
  };

/** PATCH /orgs/{organizationId}/teams/{teamId} */
export const updateTeamRoute =
  (deps: TeamRoutesDeps): OperationHandler<typeof updateTeamInOrganizationById> =>
  async (context, { params, body: { title }, ...request }) => {
    const { organizationId, teamId } = params;
    requireMembership(context.principal, organizationId);
    const { revision, state } = await deps.repository.handle(
      teamId,
      (before, at): TeamCommand => {
        requireManager(before, context.principal, params);
        requireIfMatch(request, etagOf(at));
        return { type: 'RenameTeam', data: { ...params, title, at: context.now.toISOString() } };
      },
      commandMetadata(context, organizationId),
    );
    const stored = await deps.live.teams().get(teamId);
    if (stored === undefined || state.status !== 'active') throw notFound('team');
    // From the state, should the read store be behind.
    const document = { ...stored.document, title: state.title, members: everybodyIn(state.roster).length };
    const [shown] = await deps.present(context, [document]);
    if (shown === undefined) throw notFound('team');
    return { status: 200, body: shown, etag: etagOf(revision) };
  };

/** DELETE /orgs/{organizationId}/teams/{teamId} */
export const removeTeamRoute =
  (deps: TeamRoutesDeps): OperationHandler<typeof removeTeamFromOrganizationById> =>
  async (context, { params, ...request }) => {
    const { organizationId, teamId } = params;
    requireMembership(context.principal, organizationId);
    const { state: present } = await deps.repository.load(teamId);
    if (present.status !== 'active' || present.organizationId !== organizationId) return { status: 204 };
    let leaving: readonly string[] = [];
    const { events } = await deps.repository.handle(
      teamId,
      (before, at): TeamCommand => {
        requireManager(before, context.principal, params);
        requireIfMatch(request, etagOf(at));
        leaving = before.status === 'active' ? everybodyIn(before.roster) : [];
        return { type: 'DeleteTeam', data: { ...params, at: context.now.toISOString() } };
      },
      commandMetadata(context, organizationId),
    );
    await forgetAll(deps, leaving);
    return events.length > 0 ? { status: 205 } : { status: 204 };
  };
