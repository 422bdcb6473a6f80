import type { spaceOperations } from '@bindery/contracts';
import { type HandlersFor, listIdentity, notFound } from '@bindery/service-kit';
import { answerSpace, presentSpaces } from '../answer.ts';
import type { SpaceRouteDeps } from '../deps.ts';
import { listSpaces } from '../list.ts';

type Handlers = HandlersFor<typeof spaceOperations>;
const defaultLimit = 50;

/** GET /spaces/{spaceId} */
export const getSpace =
  (deps: SpaceRouteDeps): Handlers['getSpaceById'] =>
  async (context, { params }) => {
    const found = await deps.access.space(context, params.spaceId, 'view', { deleted: 'shown' });
    const { purgeAfter } = found.space;
    // Past its term a space only waits for the purge, and nobody can tell when that runs.
    if (purgeAfter !== undefined && context.now.toISOString() >= purgeAfter) throw notFound('space');
    const { body, etag, imported } = await answerSpace(deps, context, found);
    const imports = (imported ? await deps.imports?.(context.baseUrl, found.space.id) : undefined) ?? [];
    return { status: 200, body: imports.length === 0 ? body : { ...body, imports }, etag };
  };

/** GET /orgs/{organizationId}/spaces */
export const listSpacesInOrganization =
  (deps: SpaceRouteDeps): Handlers['listSpacesInOrganizationById'] =>
  async (context, { params, query }) => {
    const lens = await deps.access.lens(context, params.organizationId);
    const list = listIdentity('listSpacesInOrganizationById', params);
    const { limit = defaultLimit, page } = query;
    const request = { limit, list, ...(page === undefined ? {} : { page }) };
    const { items, count, next } = await listSpaces(deps.spaces, lens.visible, request, deps.cursors);
    const documents = items.map(({ document }) => document);
    const shown = await presentSpaces(deps, context, lens, documents);
    return { status: 200, body: { ...(next ? { next } : {}), count, items: shown } };
  };
