import type { getMemberInOrganizationById } from '@bindery/contracts';
import { etagOf, forbidden, membershipIn, notFound, type OperationHandler } from '@bindery/service-kit';
import { organizationPermissions } from '../../organizations/index.ts';
import type { LastSeen } from '../last-seen.ts';
import { presentMember } from '../presenter.ts';
import type { LiveMembers } from '../queries.ts';
import { memberId } from '../read-model.ts';

/** GET /orgs/{organizationId}/members/{userId} */
export const getMemberRoute =
  (deps: {
    readonly members: LiveMembers;
    readonly lastSeen: LastSeen;
  }): OperationHandler<typeof getMemberInOrganizationById> =>
  async ({ principal }, { params: { organizationId, userId } }) => {
    const membership = membershipIn(principal, organizationId);
    if (membership === undefined) throw notFound('organization');
    if (userId !== principal.id && !organizationPermissions(membership).listMembers)
      throw forbidden('member.guest', 'Guests see no member but themselves.');
    const stored = await deps.members().get(memberId(organizationId, userId));
    if (stored === undefined) throw notFound('member');
    const seen = await deps.lastSeen.of(organizationId, [userId]);
    return {
      status: 200,
      body: presentMember(stored.document, seen.get(userId)),
      etag: etagOf(stored.document.version),
    };
  };
