import type { createOrganization } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { etagOf, forbidden, holdsAccount, type OperationHandler } from '@bindery/service-kit';
import type { ForgetPrincipal } from '../../../shared/ports.ts';
import { normalizedDomains } from '../email-domains.ts';
import { presentOrganization } from '../presenter.ts';
import { newOrganization } from '../read-model.ts';
import type { OrganizationRepository } from '../repository.ts';

/** POST /orgs */
export const createOrganizationRoute =
  (deps: {
    readonly organizations: OrganizationRepository;
    readonly forget: ForgetPrincipal;
  }): OperationHandler<typeof createOrganization> =>
  async (context, { body }) => {
    const { principal, baseUrl } = context;
    if (principal.kind !== 'user') throw forbidden('organization.users_only', 'Only users create organizations.');
    if (!holdsAccount(principal))
      throw forbidden('organization.account_only', 'Sign in to your own account to create an organization.');
    const id = context.ids.id();
    const createdAt = context.now.toISOString();
    const emailDomains = normalizedDomains(body.emailDomains ?? []);
    const { title } = body;
    const data = { organizationId: id, title, emailDomains, createdBy: principal.id, createdAt };
    await deps.organizations.handle(id, { type: 'CreateOrganization', data }, commandMetadata(context, id));
    await deps.forget(principal.id);
    const shown = presentOrganization(newOrganization(data), { role: 'admin', teams: [] }, baseUrl);
    return { status: 201, body: shown, etag: etagOf(0), location: shown.urls.location };
  };
