import type { updateOrganizationMemberLastSeenAt } from '@bindery/contracts';
import { membershipIn, notFound, type OperationHandler } from '@bindery/service-kit';
import type { LastSeen } from '../last-seen.ts';

/** POST /orgs/{organizationId}/ping */
export const pingRoute =
  (deps: { readonly lastSeen: LastSeen }): OperationHandler<typeof updateOrganizationMemberLastSeenAt> =>
  async ({ principal, now }, { params: { organizationId } }) => {
    if (membershipIn(principal, organizationId) === undefined) throw notFound('organization');
    await deps.lastSeen.note(organizationId, principal.id, now);
    return { status: 200, body: {} };
  };
