import type { getMemberInOrganizationById } from '@bindery/contracts';
import { etagOf, forbidden, membershipIn, notFound, type OperationHandler } from '@bindery/service-kit';
import { organizationPermissions } from '../../organizations/index.ts';
import type { PresentMembers } from '../presenter.ts';
import type { LiveMembers } from '../queries.ts';
import { memberId } from '../read-model.ts';

/** GET /orgs/{organizationId}/members/{userId} */
export const getMemberRoute =
  (deps: {
    readonly members: LiveMembers;
    readonly present: PresentMembers;
  }): OperationHandler<typeof getMemberInOrganizationById> =>
  async (context, { params: { organizationId, userId } }) => {
    const { principal } = context;
    const membership = membershipIn(principal, organizationId);
    if (membership === undefined) throw notFound('organization');
    if (userId !== principal.id && !organizationPermissions(membership).listMembers)
      throw forbidden('member.guest', 'Guests see no member but themselves.');
    const stored = await deps.members().get(memberId(organizationId, userId));
    if (stored === undefined) throw notFound('member');
    const [body] = await deps.present(context, organizationId, [stored.document]);
    if (body === undefined) throw notFound('member');
    return { status: 200, body, etag: etagOf(stored.document.version) };
  };
