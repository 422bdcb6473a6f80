import { type collectionOperations, limits } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { conflict, type HandlersFor, isProblem, notFound, type OperationContext } from '@bindery/service-kit';
import type { CollectionAccess } from '../../access/index.ts';
import { orderKeyAt } from '../../space-model/index.ts';
import type { CollectionRouteDeps } from '../deps.ts';
import { causeOf } from '../placement.ts';
import { collectionLocation, presentCollection } from '../present.ts';
import { deleteSpacesIn } from '../stray.ts';

type Handlers = HandlersFor<typeof collectionOperations>;
const defaultTitle = 'Untitled';
export const bounds = { maxDepth: limits.collection.depth, maxCollections: limits.collection.perOrganization };

/** The collection as the caller sees it now. */
export const answerCollection = async (
  { access }: Pick<CollectionRouteDeps, 'access'>,
  context: OperationContext,
  collectionId: string,
) => {
  const { collection, permissions } = await access.collection(context, collectionId, 'view');
  return presentCollection(context.baseUrl, collection, permissions);
};

/** POST /orgs/{organizationId}/collections */
export const createCollection =
  (deps: CollectionRouteDeps): Handlers['createCollection'] =>
  async (context, { params, body = {} }) => {
    const { organizationId } = params;
    const { title = defaultTitle, parent = null } = body;
    if (parent === null) deps.access.organization(context, organizationId, 'createContent');
    else {
      deps.access.organization(context, organizationId, 'view');
      const { collection } = await deps.access.collection(context, parent, 'create');
      if (collection.organizationId !== organizationId) throw notFound('collection');
    }
    const collectionId = context.ids.id();
    const createdAt = context.now.toISOString();
    const order = orderKeyAt(createdAt, collectionId);
    const { id: createdBy } = context.principal;
    await deps.collectionsRepository.handle(
      organizationId,
      {
        type: 'CreateCollection',
        data: { organizationId, collectionId, title, parent, order, createdBy, createdAt },
        bounds,
      },
      commandMetadata(context, organizationId),
    );
    const shown = await answerCollection(deps, context, collectionId);
    return { status: 201, body: shown, location: collectionLocation(context.baseUrl, collectionId) };
  };

/** PATCH /collections/{collectionId} */
export const updateCollection =
  (deps: CollectionRouteDeps): Handlers['updateCollectionById'] =>
  async (context, { params, body }) => {
    const { collection } = await deps.access.collection(context, params.collectionId, 'admin');
    const { organizationId, id: collectionId } = collection;
    const by = { changedBy: context.principal.id, changedAt: context.now.toISOString() };
    await deps.collectionsRepository.handle(
      organizationId,
      { type: 'ChangeCollection', data: { organizationId, collectionId, ...body, ...by } },
      commandMetadata(context, organizationId),
    );
    return { status: 200, body: await answerCollection(deps, context, collectionId) };
  };

/**
 * DELETE /collections/{collectionId}. 204 for what does not exist or may not be seen: the two look alike. The collection is gone
 * with the first event, and what is in it with it; the spaces inside are deleted before the answer, and by a reactor if
 * this process ends in between.
 */
export const deleteCollection =
  (deps: CollectionRouteDeps): Handlers['deleteCollectionById'] =>
  async (context, { params }) => {
    let found: CollectionAccess;
    try {
      found = await deps.access.collection(context, params.collectionId, 'admin');
    } catch (error) {
      if (isProblem(error) && error.kind === 'not-found') return { status: 204 };
      throw error;
    }
    const { organizationId, id: collectionId, status } = found.collection;
    if (status === 'leaving')
      throw conflict('collection.in_transfer', 'The collection is on its way to another organization.');
    const deletedBy = context.principal.id;
    const deletedAt = context.now.toISOString();
    const { events } = await deps.collectionsRepository.handle(
      organizationId,
      { type: 'DeleteCollection', data: { organizationId, collectionId, deletedBy, deletedAt } },
      commandMetadata(context, organizationId),
    );
    const [event] = events;
    if (event?.type !== 'CollectionDeleted') return { status: 204 };
    const gone = event.data.collections.map((it) => it.collectionId);
    await deleteSpacesIn({ ...deps, spaceRepository: deps.repository }, organizationId, gone, causeOf(context, 'gone'));
    return { status: 205 };
  };
