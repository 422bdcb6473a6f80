import type { loadMergeRules, loadOrganizations } from '@bindery/contracts';
import { membershipIn, notFound, type OperationHandler } from '@bindery/service-kit';
import type { TeamsOwnedBy } from '../../../shared/ports.ts';
import { presentOrganization } from '../presenter.ts';
import type { LiveOrganizations } from '../read-model.ts';

/** Internal: organizations of the caller by id, to embed them. */
export const loadOrganizationsRoute =
  (deps: {
    readonly organizations: LiveOrganizations;
    readonly teamsOwnedBy: TeamsOwnedBy;
  }): OperationHandler<typeof loadOrganizations> =>
  async ({ principal, baseUrl }, { body }) => {
    const found = await deps.organizations().getMany(body.ids);
    const owning = await deps.teamsOwnedBy(principal.id);
    const organizations = [...found.values()].flatMap(({ document }) => {
      const membership = membershipIn(principal, document.id);
      return membership ? [presentOrganization(document, membership, baseUrl, owning.has(document.id))] : [];
    });
    return { status: 200, body: { organizations } };
  };

/** Internal: the merge rules that spaces inherit. Whoever asks decides who may know them. */
export const loadMergeRulesRoute =
  (deps: { readonly organizations: LiveOrganizations }): OperationHandler<typeof loadMergeRules> =>
  async (_context, { body: { organizationId } }) => {
    const stored = await deps.organizations().get(organizationId);
    if (stored === undefined) throw notFound('organization');
    return { status: 200, body: { mergeRules: stored.document.mergeRules } };
  };
