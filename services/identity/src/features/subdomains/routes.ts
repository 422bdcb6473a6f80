import type { getSubdomain } from '@bindery/contracts';
import { membershipIn, notFound, type OperationHandler } from '@bindery/service-kit';
import type { LiveOrganizations } from '../organizations/index.ts';
import type { SubdomainRepository } from './claims.ts';

/** GET /subdomains/{subdomain} */
export const getSubdomainRoute =
  (deps: {
    readonly subdomains: SubdomainRepository;
    readonly organizations: LiveOrganizations;
  }): OperationHandler<typeof getSubdomain> =>
  async ({ principal }, { params: { subdomain } }) => {
    const { state } = await deps.subdomains.load(subdomain);
    if (state.status === 'free') throw notFound('subdomain');
    const { organizationId: organization } = state;
    if (membershipIn(principal, organization) === undefined && !principal.instanceAdmin) throw notFound('subdomain');
    const stored = await deps.organizations().get(organization);
    const isActive = stored?.document.hostname?.name === subdomain;
    return {
      status: 200,
      body: { object: 'subdomain', subdomain, target: { type: 'organization', organization }, isActive },
    };
  };
