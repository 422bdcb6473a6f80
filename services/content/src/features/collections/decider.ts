import { assertNever, type Decider } from '@bindery/event-sourcing';
import { conflict, invalid, notFound, Problem } from '@bindery/service-kit';
import type { CollectionEvent, CollectionFacts, DefaultLevel } from './events.ts';
import { type CollectionsState, chainOf, evolve, heightOf, initialState, isLeaving, within } from './state.ts';

interface Bounds {
  /** Levels of collections in collections. */
  readonly maxDepth: number;
  /** Collections of one organization. */
  readonly maxCollections: number;
}

export interface CreateCollection {
  readonly type: 'CreateCollection';
  readonly data: {
    readonly organizationId: string;
    readonly collectionId: string;
    readonly title: string;
    readonly parent: string | null;
    readonly order: string;
    readonly createdBy: string;
    readonly createdAt: string;
  };
  readonly bounds: Bounds;
}

export interface ChangeCollection {
  readonly type: 'ChangeCollection';
  readonly data: {
    readonly organizationId: string;
    readonly collectionId: string;
    readonly title?: string;
    readonly description?: string;
    readonly defaultLevel?: DefaultLevel;
    readonly changedBy: string;
    readonly changedAt: string;
  };
}

export interface MoveCollection {
  readonly type: 'MoveCollection';
  readonly data: {
    readonly organizationId: string;
    readonly collectionId: string;
    readonly parent: string | null;
    readonly order: string;
    readonly movedBy: string;
    readonly movedAt: string;
  };
  readonly bounds: Bounds;
}

export interface DeleteCollection {
  readonly type: 'DeleteCollection';
  readonly data: {
    readonly organizationId: string;
    readonly collectionId: string;
    readonly deletedBy: string;
    readonly deletedAt: string;
  };
}

export interface StartCollectionTransfer {
  readonly type: 'StartCollectionTransfer';
  readonly data: {
    readonly organizationId: string;
    readonly collectionId: string;
    readonly transferId: string;
    readonly to: string;
    /** Its place at the top of the other organization. */
    readonly order: string;
    readonly startedBy: string;
    readonly startedAt: string;
  };
}

export interface ReceiveCollections {
  readonly type: 'ReceiveCollections';
  readonly data: Extract<CollectionEvent, { type: 'CollectionsReceived' }>['data'];
}

export interface FinishCollectionTransfer {
  readonly type: 'FinishCollectionTransfer';
  readonly data: {
    readonly organizationId: string;
    readonly transferId: string;
    readonly sentBy: string;
    readonly sentAt: string;
  };
}

export type CollectionCommand =
  | CreateCollection
  | ChangeCollection
  | MoveCollection
  | DeleteCollection
  | StartCollectionTransfer
  | ReceiveCollections
  | FinishCollectionTransfer;

const decide = (command: CollectionCommand, state: CollectionsState): readonly CollectionEvent[] => {
  switch (command.type) {
    case 'CreateCollection':
      return create(command, state);
    case 'ChangeCollection':
      return change(command, state);
    case 'MoveCollection':
      return move(command, state);
    case 'DeleteCollection':
      return deleteCollection(command, state);
    case 'StartCollectionTransfer':
      return startTransfer(command, state);
    case 'ReceiveCollections':
      return receive(command, state);
    case 'FinishCollectionTransfer':
      return finishTransfer(command, state);
    default:
      return assertNever(command);
  }
};

/** A collection that can be changed. */
const settled = (state: CollectionsState, collectionId: string): CollectionFacts => {
  const collection = state.collections.get(collectionId);
  if (collection === undefined) throw notFound('collection');
  if (isLeaving(state, collectionId))
    throw conflict('collection.in_transfer', 'The collection is on its way to another organization.');
  return collection;
};

/** Refuses when a collection of this height does not fit below the parent. */
const checkDepth = (state: CollectionsState, parent: string | null, height: number, { maxDepth }: Bounds): void => {
  if (parent !== null) settled(state, parent);
  if (chainOf(state, parent).length + height > maxDepth)
    throw invalid('collection.too_deep', `body.parent: collections can be nested ${maxDepth} levels deep.`);
};

const create = ({ data, bounds }: CreateCollection, state: CollectionsState): readonly CollectionEvent[] => {
  if (state.collections.has(data.collectionId)) return [];
  checkDepth(state, data.parent, 1, bounds);
  if (state.collections.size >= bounds.maxCollections)
    throw conflict('collection.too_many', `An organization has at most ${bounds.maxCollections} collections.`);
  return [{ type: 'CollectionCreated', data: { ...data, defaultLevel: 'inherit' } }];
};

const change = ({ data }: ChangeCollection, state: CollectionsState): readonly CollectionEvent[] => {
  const known = settled(state, data.collectionId);
  const { organizationId, collectionId, changedBy, changedAt } = data;
  const changes = {
    ...(data.title === undefined || data.title === known.title ? {} : { title: data.title }),
    ...(data.description === undefined || data.description === (known.description ?? '')
      ? {}
      : { description: data.description }),
    ...(data.defaultLevel === undefined || data.defaultLevel === known.defaultLevel
      ? {}
      : { defaultLevel: data.defaultLevel }),
  };
  if (Object.keys(changes).length === 0) return [];
  return [{ type: 'CollectionChanged', data: { organizationId, collectionId, ...changes, changedBy, changedAt } }];
};

const move = ({ data, bounds }: MoveCollection, state: CollectionsState): readonly CollectionEvent[] => {
  const { collectionId, parent, order } = data;
  const known = settled(state, collectionId);
  if (chainOf(state, parent).some((around) => around.collectionId === collectionId))
    throw invalid('collection.cycle', 'body.parent: a collection cannot go into itself.');
  if (parent !== known.parent) checkDepth(state, parent, heightOf(state, collectionId), bounds);
  if (parent === known.parent && order === known.order) return [];
  return [{ type: 'CollectionMoved', data }];
};

const deleteCollection = ({ data }: DeleteCollection, state: CollectionsState): readonly CollectionEvent[] => {
  const { collectionId } = data;
  if (!state.collections.has(collectionId)) return [];
  const inside = within(state, collectionId);
  for (const it of inside) settled(state, it.collectionId);
  const collections = inside.map((it) => ({
    collectionId: it.collectionId,
    lastDefault: nearestDefault(chainOf(state, it.collectionId)),
  }));
  return [{ type: 'CollectionDeleted', data: { ...data, collections } }];
};

const nearestDefault = (chain: readonly CollectionFacts[]): DefaultLevel => {
  const nearest = chain.find(({ defaultLevel }) => defaultLevel !== 'inherit');
  return nearest === undefined ? 'inherit' : nearest.defaultLevel;
};

const startTransfer = ({ data }: StartCollectionTransfer, state: CollectionsState): readonly CollectionEvent[] => {
  const { organizationId, collectionId, transferId, to, order, startedBy, startedAt } = data;
  if (state.leaving.has(transferId)) return [];
  if (to === organizationId)
    throw conflict('collection.transfer_to_itself', 'The collection is in this organization already.');
  if (!state.collections.has(collectionId)) throw notFound('collection');
  const collections = within(state, collectionId);
  if (collections.some((it) => isLeaving(state, it.collectionId)))
    throw new Problem(
      'precondition',
      'collection.in_transfer',
      'The collection is on its way to another organization.',
    );
  const facts = collections.map((it) => (it.collectionId === collectionId ? { ...it, parent: null, order } : it));
  return [
    {
      type: 'CollectionTransferStarted',
      data: { organizationId, transferId, to, collections: facts, startedBy, startedAt },
    },
  ];
};

/** What was sent is taken: bounds were looked at before it started. */
const receive = ({ data }: ReceiveCollections, state: CollectionsState): readonly CollectionEvent[] =>
  state.received.has(data.transferId) ? [] : [{ type: 'CollectionsReceived', data }];

const finishTransfer = ({ data }: FinishCollectionTransfer, state: CollectionsState): readonly CollectionEvent[] => {
  const transfer = state.leaving.get(data.transferId);
  if (transfer === undefined) return [];
  const collectionIds = transfer.collections.map(({ collectionId }) => collectionId);
  return [{ type: 'CollectionsSent', data: { ...data, to: transfer.to, collectionIds } }];
};

/** The rules of the collections of one organization. */
export const collectionsDecider: Decider<CollectionsState, CollectionCommand, CollectionEvent> = {
  initialState,
  decide,
  evolve,
};
