import { type collectionOperations, limits } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { conflict, type HandlersFor, type OperationContext, Problem } from '@bindery/service-kit';
import { orderKeyAt, topLevel } from '../../space-model/index.ts';
import { answerSpace, expectedRevision, spaceAfter } from '../../spaces/index.ts';
import type { CollectionRouteDeps } from '../deps.ts';
import { causeOf } from '../placement.ts';
import { carryThrough } from '../transfers.ts';
import { answerCollection } from './change.ts';

type Handlers = HandlersFor<typeof collectionOperations>;

/** Whoever transfers administers both organizations. */
const checkBoth = (
  { access }: CollectionRouteDeps,
  context: OperationContext,
  from: string,
  to: string,
  what: string,
): void => {
  access.organization(context, to, 'view');
  if (from === to) throw conflict('transfer.unchanged', `The ${what} is in this organization already.`);
  access.organization(context, from, 'admin');
  access.organization(context, to, 'admin');
};

const cannotMove = (code: string, message: string) => new Problem('precondition', code, message);

/** POST /collections/{collectionId}/transfer */
export const transferCollection =
  (deps: CollectionRouteDeps): Handlers['transferCollection'] =>
  async (context, { params, body }) => {
    const { collection, tree } = await deps.access.collection(context, params.collectionId, 'admin');
    const { id: collectionId, organizationId } = collection;
    const to = body.organization;
    checkBoth(deps, context, organizationId, to, 'collection');
    const there = await deps.collections.tree(to);
    if (there.all.length + tree.within([collectionId]).size > limits.collection.perOrganization)
      throw cannotMove('collection.no_room', 'The other organization would have too many collections.');
    const transferId = context.ids.id();
    const startedAt = context.now.toISOString();
    const { events } = await deps.collectionsRepository.handle(
      organizationId,
      {
        type: 'StartCollectionTransfer',
        data: {
          organizationId,
          collectionId,
          transferId,
          to,
          order: orderKeyAt(startedAt, collectionId),
          startedBy: context.principal.id,
          startedAt,
        },
      },
      commandMetadata(context, organizationId),
    );
    const [event] = events;
    if (event?.type === 'CollectionTransferStarted')
      await carryThrough(
        { ...deps, spaceRepository: deps.repository },
        { transferId, from: organizationId, to, collections: event.data.collections },
        causeOf(context, 'transfer'),
      );
    return { status: 200, body: await answerCollection(deps, context, collectionId) };
  };

/** POST /spaces/{spaceId}/transfer */
export const transferSpace =
  (deps: CollectionRouteDeps): Handlers['transferSpace'] =>
  async (context, { params, body, ifMatch }) => {
    const before = await deps.access.space(context, params.spaceId, 'admin');
    const { id, organizationId: from, place } = before.space;
    const to = body.organization;
    checkBoth(deps, context, from, to, 'space');
    if (place !== topLevel && (await deps.collections.tree(from)).get(place)?.status === 'leaving')
      throw cannotMove('collection.in_transfer', 'The collection of the space is on its way to another organization.');
    const transferredAt = context.now.toISOString();
    const expected = expectedRevision(ifMatch);
    const handled = await deps.repository.handle(
      id,
      {
        type: 'TransferSpace',
        data: {
          organizationId: to,
          parent: null,
          order: orderKeyAt(transferredAt, id),
          transferredBy: context.principal.id,
          transferredAt,
        },
      },
      commandMetadata(context, to),
      expected === undefined ? {} : { expectedRevision: expected },
    );
    const after = await spaceAfter(deps, before, handled, id);
    return { status: 200, ...(await answerSpace(deps, context, after)) };
  };
