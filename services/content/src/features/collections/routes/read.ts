import type { collectionOperations } from '@bindery/contracts';
import { type HandlersFor, listIdentity } from '@bindery/service-kit';
import { byOrder, type CollectionDocument } from '../../space-model/index.ts';
import { listSpaces, presentSpaces } from '../../spaces/index.ts';
import type { CollectionRouteDeps } from '../deps.ts';
import { presentCollection } from '../present.ts';

type Handlers = HandlersFor<typeof collectionOperations>;
const defaultLimit = 50;

/** GET /collections/{collectionId} */
export const getCollection =
  ({ access }: CollectionRouteDeps): Handlers['getCollectionById'] =>
  async (context, { params }) => {
    const { collection, permissions } = await access.collection(context, params.collectionId, 'view');
    return { status: 200, body: presentCollection(context.baseUrl, collection, permissions) };
  };

/**
 * GET /orgs/{organizationId}/collections. The collections of an organization are few and at hand: what the caller may view is
 * chosen among them, then paged.
 */
export const listCollections =
  ({ access, cursors }: CollectionRouteDeps): Handlers['listCollectionsInOrganizationById'] =>
  async (context, { params, query }) => {
    const { limit = defaultLimit, page, nested = true } = query;
    const { tree, describeCollection } = await access.lens(context, params.organizationId);
    const list = listIdentity('listCollectionsInOrganizationById', { ...params, nested });
    const [order, id] = page === undefined ? [] : cursors.decode(list, page);
    const after = page === undefined ? undefined : { order: String(order), id: String(id) };
    const shown: {
      collection: CollectionDocument;
      permissions: ReturnType<typeof describeCollection>['permissions'];
    }[] = [];
    for (const collection of tree.all) {
      if (!nested && collection.parent !== null) continue;
      const { permissions } = describeCollection(collection);
      if (permissions.view) shown.push({ collection, permissions });
    }
    const rest = after === undefined ? shown : shown.filter((it) => byOrder(it.collection, after) > 0);
    const items = rest.slice(0, limit);
    const last = items.at(-1)?.collection;
    const next =
      last !== undefined && rest.length > limit ? { page: cursors.encode(list, [last.order, last.id]) } : undefined;
    return {
      status: 200,
      body: {
        ...(next ? { next } : {}),
        count: shown.length,
        items: items.map((it) => presentCollection(context.baseUrl, it.collection, it.permissions)),
      },
    };
  };

/** GET /collections/{collectionId}/spaces */
export const listSpacesInCollection =
  (deps: CollectionRouteDeps): Handlers['listSpacesInCollectionById'] =>
  async (context, { params, query }) => {
    const { collection } = await deps.access.collection(context, params.collectionId, 'view');
    const lens = await deps.access.lens(context, collection.organizationId);
    const list = listIdentity('listSpacesInCollectionById', params);
    const { limit = defaultLimit, page } = query;
    const request = { limit, list, place: collection.id, ...(page === undefined ? {} : { page }) };
    const { items, count, next } = await listSpaces(deps.spaces, lens.visible, request, deps.cursors);
    const documents = items.map(({ document }) => document);
    const shown = await presentSpaces(deps, context, lens, documents);
    return { status: 200, body: { ...(next ? { next } : {}), count, items: shown } };
  };
