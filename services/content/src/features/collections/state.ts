import { ignoreUnknown } from '@bindery/event-sourcing';
import type { CollectionEvent, CollectionFacts } from './events.ts';

/** A transfer that was started and has not ended. */
export interface Transfer {
  readonly to: string;
  readonly collections: readonly CollectionFacts[];
  readonly startedBy: string;
}

/** The living collections of an organization. */
export interface CollectionsState {
  readonly collections: ReadonlyMap<string, CollectionFacts>;
  /** By transfer. */
  readonly leaving: ReadonlyMap<string, Transfer>;
  /** Transfers that arrived, so that none arrives twice. */
  readonly received: ReadonlySet<string>;
}

export const initialState = (): CollectionsState => ({
  collections: new Map(),
  leaving: new Map(),
  received: new Set(),
});

const withCollections = (
  state: CollectionsState,
  put: readonly CollectionFacts[],
  removed: readonly string[] = [],
): CollectionsState => {
  const collections = new Map(state.collections);
  for (const id of removed) collections.delete(id);
  for (const collection of put) collections.set(collection.collectionId, collection);
  return { ...state, collections };
};

/** Folds one event into the state. Never throws; what does not fit changes nothing. */
export const evolve = (state: CollectionsState, event: CollectionEvent): CollectionsState => {
  switch (event.type) {
    case 'CollectionCreated': {
      const { collectionId, title, parent, defaultLevel, order } = event.data;
      return withCollections(state, [{ collectionId, title, parent, defaultLevel, order }]);
    }
    case 'CollectionChanged': {
      const known = state.collections.get(event.data.collectionId);
      if (known === undefined) return state;
      const { title, description, defaultLevel } = event.data;
      const changed = {
        ...known,
        ...(title === undefined ? {} : { title }),
        ...(description === undefined ? {} : { description }),
        ...(defaultLevel === undefined ? {} : { defaultLevel }),
      };
      return withCollections(state, [changed]);
    }
    case 'CollectionMoved': {
      const known = state.collections.get(event.data.collectionId);
      const { parent, order } = event.data;
      return known === undefined ? state : withCollections(state, [{ ...known, parent, order }]);
    }
    case 'CollectionDeleted':
      return withCollections(
        state,
        [],
        event.data.collections.map(({ collectionId }) => collectionId),
      );
    case 'CollectionTransferStarted': {
      const { transferId, to, collections, startedBy } = event.data;
      return { ...state, leaving: new Map(state.leaving).set(transferId, { to, collections, startedBy }) };
    }
    case 'CollectionsReceived':
      return {
        ...withCollections(state, event.data.collections),
        received: new Set(state.received).add(event.data.transferId),
      };
    case 'CollectionsSent': {
      const leaving = new Map(state.leaving);
      leaving.delete(event.data.transferId);
      return { ...withCollections(state, [], event.data.collectionIds), leaving };
    }
    default:
      return ignoreUnknown(state, event);
  }
};

/** It and everything in it, each after the one that it is in. */
export const within = (state: CollectionsState, collectionId: string): readonly CollectionFacts[] => {
  const children = new Map<string, CollectionFacts[]>();
  for (const collection of state.collections.values())
    if (collection.parent !== null)
      children.set(collection.parent, [...(children.get(collection.parent) ?? []), collection]);
  const found: CollectionFacts[] = [];
  const open = [state.collections.get(collectionId)];
  for (let next = open.pop(); next !== undefined && found.length <= state.collections.size; next = open.pop()) {
    found.push(next);
    open.push(...(children.get(next.collectionId) ?? []));
  }
  return found;
};

/** From the collection up to the outermost one. */
export const chainOf = (state: CollectionsState, collectionId: string | null): readonly CollectionFacts[] => {
  const chain: CollectionFacts[] = [];
  let id = collectionId;
  while (id !== null && chain.length <= state.collections.size) {
    const next = state.collections.get(id);
    if (next === undefined) break;
    chain.push(next);
    id = next.parent;
  }
  return chain;
};

/** How many levels it has with what is in it. */
export const heightOf = (state: CollectionsState, collectionId: string): number => {
  const top = chainOf(state, collectionId).length;
  return Math.max(...within(state, collectionId).map((inside) => chainOf(state, inside.collectionId).length - top + 1));
};

/** Whether it is on its way to another organization. */
export const isLeaving = (state: CollectionsState, collectionId: string): boolean =>
  [...state.leaving.values()].some(({ collections }) => collections.some((it) => it.collectionId === collectionId));
