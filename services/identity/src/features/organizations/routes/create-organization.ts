import type { createOrganization } from '@bindery/contracts';
import { commandMetadata, type Repository } from '@bindery/event-sourcing';
import { etagOf, forbidden, type OperationHandler } from '@bindery/service-kit';
import type { ForgetPrincipal } from '../../../shared/ports.ts';
import { searchable } from '../../../shared/text.ts';
import type { OrganizationCommand } from '../decider.ts';
import type { OrganizationEvent } from '../events.ts';
import { presentOrganization } from '../presenter.ts';
import type { OrganizationState } from '../state.ts';

/** POST /orgs */
export const createOrganizationRoute =
  (deps: {
    readonly organizations: Repository<OrganizationState, OrganizationCommand, OrganizationEvent>;
    readonly forget: ForgetPrincipal;
  }): OperationHandler<typeof createOrganization> =>
  async (context, { body }) => {
    const { principal, baseUrl } = context;
    if (principal.kind !== 'user') throw forbidden('organization.users_only', 'Only users create organizations.');
    const id = context.ids.id();
    const createdAt = context.now.toISOString();
    const emailDomains = [...new Set((body.emailDomains ?? []).map((domain) => domain.toLowerCase()))];
    const { title } = body;
    const data = { organizationId: id, title, emailDomains, createdBy: principal.id, createdAt };
    await deps.organizations.handle(id, { type: 'CreateOrganization', data }, commandMetadata(context, id));
    await deps.forget(principal.id);
    const document = { id, title, sortTitle: searchable(title), emailDomains, createdAt };
    const shown = presentOrganization(document, { role: 'admin', teams: [] }, baseUrl);
    return { status: 201, body: shown, etag: etagOf(0), location: shown.urls.location };
  };
