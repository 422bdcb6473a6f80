import { limits, type listOrganizationsForAuthenticatedUser } from '@bindery/contracts';
import { type CursorCodec, listIdentity, membershipIn, type OperationHandler } from '@bindery/service-kit';
import { pageOf } from '../../../shared/page-of.ts';
import type { TeamsOwnedBy } from '../../../shared/ports.ts';
import { presentOrganization } from '../presenter.ts';
import type { LiveOrganizations, OrganizationDocument } from '../read-model.ts';

const batch = 1000;

/** GET /orgs: the caller's own, which its principal names, by title. */
export const listOrganizationsRoute =
  (deps: {
    readonly organizations: LiveOrganizations;
    readonly cursors: CursorCodec;
    readonly teamsOwnedBy: TeamsOwnedBy;
  }): OperationHandler<typeof listOrganizationsForAuthenticatedUser> =>
  async ({ principal, baseUrl }, { query }) => {
    const ids = Object.keys(principal.organizations);
    const documents: OrganizationDocument[] = [];
    for (let start = 0; start < ids.length; start += batch)
      for (const { document } of (await deps.organizations().getMany(ids.slice(start, start + batch))).values())
        documents.push(document);
    const { items, ...rest } = pageOf(documents, {
      list: listIdentity('listOrganizationsForAuthenticatedUser', { caller: principal.id }),
      keyOf: ({ sortTitle }) => sortTitle,
      idOf: ({ id }) => id,
      order: 'asc',
      limit: query.limit ?? limits.page.default,
      page: query.page,
      cursors: deps.cursors,
    });
    const owning = await deps.teamsOwnedBy(principal.id);
    const shown = items.flatMap((organization) => {
      const membership = membershipIn(principal, organization.id);
      return membership ? [presentOrganization(organization, membership, baseUrl, owning.has(organization.id))] : [];
    });
    return { status: 200, body: { ...rest, items: shown } };
  };
