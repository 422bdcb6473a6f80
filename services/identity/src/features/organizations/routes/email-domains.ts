import type { getOrganizationsForEmailDomain, joinOrganization } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import {
  forbidden,
  holdsAccount,
  invalid,
  membershipIn,
  notFound,
  type OperationHandler,
  type Principal,
} from '@bindery/service-kit';
import type { ForgetPrincipal, TeamsOwnedBy, VerifiedEmail } from '../../../shared/ports.ts';
import { domainOf } from '../email-domains.ts';
import { presentJoinableOrganization, presentOrganization } from '../presenter.ts';
import type { LiveOrganizations } from '../read-model.ts';
import type { OrganizationRepository } from '../repository.ts';

export interface EmailDomainDeps {
  readonly repository: OrganizationRepository;
  readonly organizations: LiveOrganizations;
  readonly verifiedEmail: VerifiedEmail;
  readonly forget: ForgetPrincipal;
  readonly teamsOwnedBy: TeamsOwnedBy;
}

const most = 100;

/** Domain of the caller's email; undefined when only an organization's identity provider says that it is its own. */
const provenDomain = async (deps: EmailDomainDeps, principal: Principal): Promise<string | undefined> =>
  principal.kind === 'user' && holdsAccount(principal) ? domainOf(await deps.verifiedEmail(principal.id)) : undefined;

/** GET /email-domains/{emailDomain}/orgs */
const forEmailDomain =
  (deps: EmailDomainDeps): OperationHandler<typeof getOrganizationsForEmailDomain> =>
  async ({ principal, baseUrl }, { params }) => {
    const emailDomain = params.emailDomain.toLowerCase();
    const own = await provenDomain(deps, principal);
    if (own !== emailDomain && !principal.instanceAdmin)
      throw forbidden('email_domain.not_yours', 'Only people with a verified email of this domain may ask.');
    const rows = await deps.organizations().query({ where: { emailDomains: { contains: emailDomain } }, limit: most });
    const owning = await deps.teamsOwnedBy(principal.id);
    const organizations = rows.map(({ document }) => {
      const membership = membershipIn(principal, document.id);
      return membership === undefined
        ? presentJoinableOrganization(document, emailDomain, baseUrl)
        : presentOrganization(document, membership, baseUrl, owning.has(document.id));
    });
    return { status: 200, body: { organizations } };
  };

/** POST /orgs/{organizationId}/join */
const join =
  (deps: EmailDomainDeps): OperationHandler<typeof joinOrganization> =>
  async (context, { params: { organizationId } }) => {
    const { principal } = context;
    if (principal.kind !== 'user') throw forbidden('organization.users_only', 'Only users join organizations.');
    const stored = await deps.organizations().get(organizationId);
    if (stored === undefined) throw notFound('organization');
    if (membershipIn(principal, organizationId) !== undefined) return { status: 204 };
    const { emailDomains, defaultRole: role, sso } = stored.document;
    const domain = await provenDomain(deps, principal);
    if (domain === undefined || !emailDomains.includes(domain))
      throw invalid(
        'organization.email_domain',
        'The domain of your email is not one that may join this organization.',
      );
    if (sso) throw forbidden('organization.sso_required', 'This organization is joined by signing in through SSO.');
    const data = { organizationId, userId: principal.id, role, at: context.now.toISOString() };
    const metadata = commandMetadata(context, organizationId);
    await deps.repository.handle(organizationId, { type: 'JoinOrganization', data }, metadata);
    await deps.forget(principal.id);
    return { status: 204 };
  };

/** What people with an email of a domain do. */
export const emailDomainRoutes = (deps: EmailDomainDeps) => ({
  getOrganizationsForEmailDomain: forEmailDomain(deps),
  joinOrganization: join(deps),
});
