import { grantContentAccess, type joinOrganizationWithInvite } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { forbidden, holdsAccount, type MemberRole, notFound, type OperationHandler } from '@bindery/service-kit';
import { admit } from '../admit.ts';
import type { InviteRoutesDeps } from '../deps.ts';
import { linksAllowed, linksAreOff } from './links.ts';

/** POST /orgs/{organizationId}/invites/{inviteId} */
export const joinRoute =
  (deps: InviteRoutesDeps): OperationHandler<typeof joinOrganizationWithInvite> =>
  async (context, { params: { organizationId, inviteId } }) => {
    const { principal } = context;
    // From the stream, not from a read model: a link that was deleted lets nobody in from that moment on.
    const { state } = await deps.links.load(inviteId);
    if (state.status !== 'active' || state.organizationId !== organizationId) throw notFound('invite');
    if (principal.kind !== 'user') throw forbidden('invite.users_only', 'Only users join an organization.');
    if (!holdsAccount(principal) && principal.signedInBy?.organizationId !== organizationId)
      throw forbidden('invite.account', 'A session of an organization joins no other.');
    if (!(await linksAllowed(deps, organizationId))) throw linksAreOff();
    const { grant } = state;
    const at = context.now.toISOString();
    const role = grant.kind === 'organization' ? grant.role : null;
    const give = async (level: MemberRole | null): Promise<void> => {
      if (grant.kind === 'organization') return;
      const body = { organizationId, [grant.kind]: grant.id, userId: principal.id, level };
      await deps.services.call(grantContentAccess, context, { params: {}, query: {}, body });
    };
    // Gives nothing yet: a link to content that is gone, or in another organization by now, makes nobody a guest of this one.
    await give(null);
    await admit(deps, { organizationId, userId: principal.id, role, at }, commandMetadata(context, organizationId));
    if (grant.kind !== 'organization' && grant.role !== null) await give(grant.role);
    return { status: 200, body: {} };
  };
