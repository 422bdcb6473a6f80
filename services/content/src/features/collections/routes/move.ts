import type { collectionOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { conflict, type HandlersFor, invalid, notFound, type OperationContext } from '@bindery/service-kit';
import { type CollectionTree, topLevel } from '../../space-model/index.ts';
import { answerSpace, expectedRevision, spaceAfter } from '../../spaces/index.ts';
import type { CollectionRouteDeps } from '../deps.ts';
import { orderFor } from '../placing.ts';
import { answerCollection, bounds } from './change.ts';

type Handlers = HandlersFor<typeof collectionOperations>;

/** Refuses unless the caller may add to the place that something goes to. Moving among siblings needs nothing more. */
const checkTarget = async (
  { access }: CollectionRouteDeps,
  context: OperationContext,
  organizationId: string,
  from: string,
  to: string,
): Promise<void> => {
  if (from === to) return;
  if (to === topLevel) {
    access.organization(context, organizationId, 'createContent');
    return;
  }
  const { collection } = await access.collection(context, to, 'create');
  if (collection.organizationId !== organizationId) throw notFound('collection');
  if (collection.status === 'leaving')
    throw conflict('collection.in_transfer', 'The collection is on its way to another organization.');
};

/** The place that `parent` names; the present one when it is absent. */
const placeOf = (parent: string | null | undefined, present: string): string =>
  parent === undefined ? present : (parent ?? topLevel);

const parentAt = (place: string): string | null => (place === topLevel ? null : place);

/** POST /collections/{collectionId}/move */
export const moveCollection =
  (deps: CollectionRouteDeps): Handlers['moveCollection'] =>
  async (context, { params, body }) => {
    const { collection, tree } = await deps.access.collection(context, params.collectionId, 'admin');
    const { organizationId, id: collectionId, order: present } = collection;
    const from = collection.parent ?? topLevel;
    const place = placeOf(body.parent, from);
    if (tree.chain(place).some(({ id }) => id === collectionId))
      throw invalid('collection.cycle', 'body.parent: a collection cannot go into itself.');
    await checkTarget(deps, context, organizationId, from, place);
    const moving = { id: collectionId, place: from, order: present };
    const order = await orderFor(deps, context, tree, { place, position: body.position, moving });
    const by = { movedBy: context.principal.id, movedAt: context.now.toISOString() };
    await deps.collectionsRepository.handle(
      organizationId,
      {
        type: 'MoveCollection',
        data: { organizationId, collectionId, parent: parentAt(place), order, ...by },
        bounds,
      },
      commandMetadata(context, organizationId),
    );
    return { status: 200, body: await answerCollection(deps, context, collectionId) };
  };

/** POST /spaces/{spaceId}/move */
export const moveSpace =
  (deps: CollectionRouteDeps): Handlers['moveSpace'] =>
  async (context, { params, body, ifMatch }) => {
    const before = await deps.access.space(context, params.spaceId, 'admin');
    const { space } = before;
    const { id, organizationId } = space;
    const tree: CollectionTree = await deps.collections.tree(organizationId);
    const place = placeOf(body.parent, space.place);
    await checkTarget(deps, context, organizationId, space.place, place);
    const order = await orderFor(deps, context, tree, { place, position: body.position, moving: space });
    const expected = expectedRevision(ifMatch);
    const handled = await deps.repository.handle(
      id,
      {
        type: 'MoveSpace',
        data: {
          parent: parentAt(place),
          order,
          movedBy: context.principal.id,
          movedAt: context.now.toISOString(),
        },
        within: organizationId,
      },
      commandMetadata(context, organizationId),
      expected === undefined ? {} : { expectedRevision: expected },
    );
    const after = await spaceAfter(deps, before, handled, id);
    if (!(await deps.placement.settle(context, after.space))) throw notFound('collection');
    return { status: 200, ...(await answerSpace(deps, context, after)) };
  };
