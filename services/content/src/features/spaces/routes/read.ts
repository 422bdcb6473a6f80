import type { spaceOperations } from '@bindery/contracts';
import { type HandlersFor, listIdentity, notFound } from '@bindery/service-kit';
import { answerSpace } from '../answer.ts';
import type { SpaceRouteDeps } from '../deps.ts';
import { listSpaces } from '../list.ts';
import { presentSpace } from '../present.ts';

type Handlers = HandlersFor<typeof spaceOperations>;
const defaultLimit = 50;
const noCounts = { open: 0, draft: 0 };

/** GET /spaces/{spaceId} */
export const getSpace =
  (deps: SpaceRouteDeps): Handlers['getSpaceById'] =>
  async (context, { params }) => {
    const found = await deps.access.space(context, params.spaceId, 'view', { deleted: 'shown' });
    const { purgeAfter } = found.space;
    // Past its term a space only waits for the purge, and nobody can tell when that runs.
    if (purgeAfter !== undefined && context.now.toISOString() >= purgeAfter) throw notFound('space');
    return { status: 200, ...(await answerSpace(deps, context, found)) };
  };

/** GET /orgs/{organizationId}/spaces */
export const listSpacesInOrganization =
  (deps: SpaceRouteDeps): Handlers['listSpacesInOrganizationById'] =>
  async (context, { params, query }) => {
    const visible = await deps.access.visibleSpaces(context, params.organizationId);
    const list = listIdentity('listSpacesInOrganizationById', params);
    const { limit = defaultLimit, page } = query;
    const request = { limit, list, ...(page === undefined ? {} : { page }) };
    const { items, count, next } = await listSpaces(deps.spaces, visible, request, deps.cursors);
    const counts = await deps.counts.ofMany(items.map(({ id }) => id));
    const shown = [];
    for (const [index, { document }] of items.entries()) {
      const described = deps.access.describe(context, document);
      const { permissions } = described instanceof Promise ? await described : described;
      shown.push(presentSpace(context.baseUrl, document, counts[index] ?? noCounts, permissions));
    }
    return { status: 200, body: { ...(next ? { next } : {}), count, items: shown } };
  };
