import type { getOrganizationById } from '@bindery/contracts';
import { etagOf, membershipIn, notFound, type OperationHandler } from '@bindery/service-kit';
import { presentOrganization } from '../presenter.ts';
import type { LiveOrganizations } from '../read-model.ts';

/** GET /orgs/{organizationId} */
export const getOrganizationRoute =
  (deps: { readonly organizations: LiveOrganizations }): OperationHandler<typeof getOrganizationById> =>
  async ({ principal, baseUrl }, { params: { organizationId } }) => {
    const membership = membershipIn(principal, organizationId);
    const stored = membership && (await deps.organizations().get(organizationId));
    if (membership === undefined || stored === undefined) throw notFound('organization');
    return {
      status: 200,
      body: presentOrganization(stored.document, membership, baseUrl),
      etag: etagOf(stored.revision),
    };
  };
