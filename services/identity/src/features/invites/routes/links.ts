import type {
  createOrganizationInvite,
  deleteOrganizationInviteById,
  getOrganizationInviteLink,
  listOrganizationInviteLinks,
  updateOrganizationInviteById,
} from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import {
  forbidden,
  listIdentity,
  notFound,
  type OperationContext,
  type OperationHandler,
  paginate,
} from '@bindery/service-kit';
import { requireAdministrator } from '../../organizations/index.ts';
import type { InviteRoutesDeps } from '../deps.ts';
import type { LinkGrant } from '../links/events.ts';
import type { InviteLinkDocument } from '../links/read-model.ts';
import { invitationKey } from '../pending/events.ts';
import { presentLink, presentRoleLink } from '../presenter.ts';

/** 403: the organization has no invite links at the moment. */
export const linksAreOff = () =>
  forbidden('invite.links_off', 'This organization has no invite links: its setting inviteLinks is off.');

/** Whether links work. @throws Problem 404 when there is no such organization */
export const linksAllowed = async (deps: InviteRoutesDeps, organizationId: string): Promise<boolean> => {
  const { state } = await deps.organizations.load(organizationId);
  if (state.status !== 'active') throw notFound('organization');
  return state.settings.inviteLinks;
};

type Body = Parameters<OperationHandler<typeof createOrganizationInvite>>[1]['body'];

const grantOf = (body: Body): LinkGrant => {
  if ('role' in body) return { kind: 'organization', role: body.role };
  return 'space' in body
    ? { kind: 'space', id: body.space, role: body.level }
    : { kind: 'collection', id: body.collection, role: body.level };
};

/** POST /orgs/{organizationId}/link-invites */
export const createLinkRoute =
  (deps: InviteRoutesDeps): OperationHandler<typeof createOrganizationInvite> =>
  async (context, { params: { organizationId }, body }) => {
    const membership = requireAdministrator(context.principal, organizationId);
    if (!(await linksAllowed(deps, organizationId))) throw linksAreOff();
    const grant = grantOf(body);
    const inviteId = context.ids.id();
    // Before it exists: what cannot be shown cannot be given.
    const shown = await presentLink(deps.services, context, membership, { id: inviteId, organizationId, grant });
    const at = context.now.toISOString();
    const data = { organizationId, inviteId, grant, createdBy: context.principal.id, at };
    await deps.links.handle(inviteId, { type: 'CreateInviteLink', data }, commandMetadata(context, organizationId));
    return { status: 201, body: shown };
  };

/** GET /orgs/{organizationId}/link-invites */
export const listLinksRoute =
  (deps: InviteRoutesDeps): OperationHandler<typeof listOrganizationInviteLinks> =>
  async ({ principal }, { params: { organizationId }, query }) => {
    const membership = requireAdministrator(principal, organizationId);
    const { items, ...rest } = await paginate<InviteLinkDocument>(
      deps.liveLinks(),
      listIdentity('listOrganizationInviteLinks', { organizationId }),
      {
        where: { organizationId, 'grant.kind': 'organization' },
        orderBy: [{ field: 'createdAt', direction: 'desc' }],
      },
      query,
      deps.cursors,
    );
    const shown = items.map(({ document: { id, grant } }) => presentRoleLink(id, grant.role, membership));
    return { status: 200, body: { ...rest, items: shown } };
  };

/** GET /orgs/{organizationId}/link-invites/{inviteId} */
export const getLinkRoute =
  (deps: InviteRoutesDeps): OperationHandler<typeof getOrganizationInviteLink> =>
  async (context, { params: { organizationId, inviteId } }) => {
    const membership = requireAdministrator(context.principal, organizationId);
    const stored = await deps.liveLinks().get(inviteId);
    if (stored?.document.organizationId !== organizationId) throw notFound('invite');
    return { status: 200, body: await presentLink(deps.services, context, membership, stored.document) };
  };

/** PATCH /orgs/{organizationId}/link-invites/{inviteId} */
export const updateLinkRoute =
  (deps: InviteRoutesDeps): OperationHandler<typeof updateOrganizationInviteById> =>
  async (context, { params: { organizationId, inviteId }, body }) => {
    const membership = requireAdministrator(context.principal, organizationId);
    const given =
      'role' in body ? ({ field: 'role', role: body.role } as const) : ({ field: 'level', role: body.level } as const);
    const data = { organizationId, inviteId, ...given, at: context.now.toISOString() };
    const metadata = commandMetadata(context, organizationId);
    const { state } = await deps.links.handle(inviteId, { type: 'ChangeInviteLink', data }, metadata);
    if (state.status !== 'active') throw notFound('invite');
    const link = { id: inviteId, organizationId, grant: state.grant };
    return { status: 200, body: await presentLink(deps.services, context, membership, link) };
  };

/** Ends an invitation that was sent by email. @returns whether there was one */
const withdraw = async (
  deps: InviteRoutesDeps,
  context: OperationContext,
  organizationId: string,
  invitationId: string,
): Promise<boolean> => {
  const stored = await deps.liveInvitations().get(invitationId);
  if (stored?.document.organizationId !== organizationId) return false;
  const { emailDigest } = stored.document;
  const data = { emailDigest, organizationId, invitationId, withdrawnAt: context.now.toISOString() };
  const metadata = commandMetadata(context, organizationId);
  await deps.invitations.handle(emailDigest, { type: 'WithdrawInvitation', data }, metadata);
  await deps.keys.destroy(invitationKey(invitationId));
  return true;
};

/** DELETE /orgs/{organizationId}/link-invites/{inviteId} */
export const deleteLinkRoute =
  (deps: InviteRoutesDeps): OperationHandler<typeof deleteOrganizationInviteById> =>
  async (context, { params: { organizationId, inviteId } }) => {
    requireAdministrator(context.principal, organizationId);
    const { state } = await deps.links.load(inviteId);
    if (state.status !== 'active' || state.organizationId !== organizationId) {
      const withdrawn = await withdraw(deps, context, organizationId, inviteId);
      return withdrawn ? { status: 205 } : { status: 204 };
    }
    const data = { organizationId, inviteId, at: context.now.toISOString() };
    await deps.links.handle(inviteId, { type: 'DeleteInviteLink', data }, commandMetadata(context, organizationId));
    return { status: 205 };
  };
