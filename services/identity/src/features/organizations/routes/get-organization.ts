import type { getOrganizationById } from '@bindery/contracts';
import { etagOf, membershipIn, notFound, type OperationHandler } from '@bindery/service-kit';
import type { TeamsOwnedBy } from '../../../shared/ports.ts';
import { presentOrganization } from '../presenter.ts';
import type { LiveOrganizations } from '../read-model.ts';

/** GET /orgs/{organizationId} */
export const getOrganizationRoute =
  (deps: {
    readonly organizations: LiveOrganizations;
    readonly teamsOwnedBy: TeamsOwnedBy;
  }): OperationHandler<typeof getOrganizationById> =>
  async ({ principal, baseUrl }, { params: { organizationId } }) => {
    const membership = membershipIn(principal, organizationId);
    const stored = membership && (await deps.organizations().get(organizationId));
    if (membership === undefined || stored === undefined) throw notFound('organization');
    const owning = await deps.teamsOwnedBy(principal.id);
    return {
      status: 200,
      body: presentOrganization(stored.document, membership, baseUrl, owning.has(organizationId)),
      etag: etagOf(stored.document.version),
    };
  };
