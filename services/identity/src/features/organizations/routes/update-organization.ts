import type { BodyOf, updateOrganizationById } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { etagOf, invalid, notFound, type OperationContext, type OperationHandler } from '@bindery/service-kit';
import type { SubdomainClaims } from '../../../shared/hostnames.ts';
import type { HasActiveProvider, TeamsOwnedBy } from '../../../shared/ports.ts';
import { normalizedDomains } from '../email-domains.ts';
import { requireAdministrator } from '../permissions.ts';
import { presentOrganization } from '../presenter.ts';
import type { LiveOrganizations } from '../read-model.ts';
import type { OrganizationRepository } from '../repository.ts';

export interface UpdateOrganizationDeps {
  readonly repository: OrganizationRepository;
  readonly organizations: LiveOrganizations;
  readonly claims: SubdomainClaims;
  readonly hasActiveProvider: HasActiveProvider;
  readonly teamsOwnedBy: TeamsOwnedBy;
  /** Makes what changed count at the next request of every member. */
  readonly forgetMembers: (organizationId: string) => Promise<void>;
}

type Body = BodyOf<typeof updateOrganizationById>;

/** PATCH /orgs/{organizationId} */
export const updateOrganizationRoute =
  (deps: UpdateOrganizationDeps): OperationHandler<typeof updateOrganizationById> =>
  async (context, { params: { organizationId }, body, ifMatch }) => {
    const { principal, baseUrl } = context;
    const membership = requireAdministrator(principal, organizationId);
    await refuseWhatCannotBe(deps, organizationId, body);
    const hostname = await claimed(deps, context, organizationId, body.hostname);
    const data = {
      organizationId,
      changes: changesOf(body),
      ...(hostname === undefined ? {} : { hostname }),
      updatedBy: principal.id,
      at: context.now.toISOString(),
      ...(ifMatch === undefined ? {} : { ifMatch }),
    };
    const metadata = commandMetadata(context, organizationId);
    const { events } = await deps.repository
      .handle(organizationId, { type: 'UpdateOrganization', data }, metadata)
      .catch(async (error: unknown) => {
        await deps.claims.giveBack(context, organizationId, hostname, error);
        throw error;
      });
    const written = events.find((event) => event.type === 'OrganizationUpdated')?.data;
    const previous = written?.previousHostname;
    if (written?.changes.sso !== undefined) await deps.forgetMembers(organizationId);
    if (previous !== undefined) await deps.claims.release(context, organizationId, previous);
    const stored = await deps.organizations().get(organizationId);
    if (stored === undefined) throw notFound('organization');
    const owning = await deps.teamsOwnedBy(principal.id);
    const shown = presentOrganization(stored.document, membership, baseUrl, owning.has(organizationId));
    return { status: 200, body: shown, etag: etagOf(stored.document.version) };
  };

/** @throws Problem 400 naming the field */
const refuseWhatCannotBe = async (deps: UpdateOrganizationDeps, organizationId: string, body: Body): Promise<void> => {
  if (body.defaultContent !== undefined && body.defaultContent !== null)
    throw invalid(
      'organization.default_content',
      'body.defaultContent.site: there is no such site in the organization',
    );
  if (body.sso === true && !(await deps.hasActiveProvider(organizationId)))
    throw invalid('organization.no_sso_provider', 'body.sso: needs an active SAML provider of the organization');
};

const changesOf = ({ hostname: _h, defaultContent: _d, emailDomains, ...rest }: Body) => ({
  ...rest,
  ...(emailDomains === undefined ? {} : { emailDomains: normalizedDomains(emailDomains) }),
});

/** Claims the name unless the organization has it. */
const claimed = async (
  deps: UpdateOrganizationDeps,
  context: OperationContext,
  organizationId: string,
  name: string | undefined,
): Promise<{ readonly name: string; readonly claimId?: string } | undefined> => {
  if (name === undefined) return undefined;
  const stored = await deps.organizations().get(organizationId);
  if (stored?.document.hostname?.name === name) return { name };
  return { name, claimId: await deps.claims.claim(context, organizationId, name) };
};
