import type { DomainEvent, Projection, ProjectionReader, ProjectionWrite, Recorded } from '@bindery/event-sourcing';
import {
  type CollectionDocument,
  type CollectionTreeDocument,
  collectionKey,
  collectionsSpec,
  collectionTreesSpec,
} from '../../space-model/index.ts';
import { collectionsAggregate } from '../aggregate.ts';
import type { CollectionEvent, CollectionFacts } from '../events.ts';

const documentOf = (organizationId: string, facts: CollectionFacts): CollectionDocument => {
  const { collectionId: id, title, description, parent, defaultLevel, order } = facts;
  const text = description ? { description } : {};
  return { id, organizationId, title, ...text, parent, defaultLevel, order, status: 'active', alive: true };
};

type Change = readonly {
  readonly id: string;
  readonly to: (known?: CollectionDocument) => CollectionDocument | undefined;
}[];

/** What becomes of the documents that an event is about. */
const changesOf = (event: CollectionEvent): Change => {
  const { organizationId } = event.data;
  const known = (change: Partial<CollectionDocument>) => (document?: CollectionDocument) =>
    document && { ...document, ...change };
  switch (event.type) {
    case 'CollectionCreated':
      return [{ id: event.data.collectionId, to: () => documentOf(organizationId, event.data) }];
    case 'CollectionChanged': {
      const { collectionId, title, description, defaultLevel } = event.data;
      const changed = (document?: CollectionDocument): CollectionDocument | undefined => {
        if (document === undefined) return undefined;
        const { description: old, ...rest } = document;
        const text = description ?? old;
        return {
          ...rest,
          ...(text ? { description: text } : {}),
          ...(title === undefined ? {} : { title }),
          ...(defaultLevel === undefined ? {} : { defaultLevel }),
        };
      };
      return [{ id: collectionId, to: changed }];
    }
    case 'CollectionMoved': {
      const { collectionId, parent, order } = event.data;
      return [{ id: collectionId, to: known({ parent, order }) }];
    }
    case 'CollectionDeleted':
      return event.data.collections.map(({ collectionId, lastDefault }) => ({
        id: collectionId,
        to: known({ status: 'deleted', alive: false, lastDefault }),
      }));
    case 'CollectionTransferStarted':
      return event.data.collections.map(({ collectionId }) => ({ id: collectionId, to: known({ status: 'leaving' }) }));
    case 'CollectionsReceived':
      return event.data.collections.map((facts) => ({
        id: facts.collectionId,
        to: () => documentOf(organizationId, facts),
      }));
    case 'CollectionsSent':
      return event.data.collectionIds.map((id) => ({ id, to: known({ status: 'sent', alive: false }) }));
    default:
      return [];
  }
};

const apply = async (event: Recorded<DomainEvent>, reader: ProjectionReader): Promise<readonly ProjectionWrite[]> => {
  // The runtime hands over only events of the types in `handles`.
  const fact = event as Recorded<CollectionEvent>;
  const { organizationId } = fact.data;
  const { revision } = event;
  const writes: ProjectionWrite[] = [];
  for (const { id, to } of changesOf(fact)) {
    const key = collectionKey(organizationId, id);
    const document = to(await reader.get<CollectionDocument>(collectionsSpec, key));
    if (document !== undefined)
      writes.push({ collection: collectionsSpec, write: { kind: 'put', id: key, revision, document } });
  }
  // Last: whoever sees this one sees those above too.
  const tree: CollectionTreeDocument = { organizationId };
  writes.push({
    collection: collectionTreesSpec,
    write: { kind: 'put', id: organizationId, revision, document: tree },
  });
  return writes;
};

/** `content.collections`, and per organization the revision of all of them. */
export const collectionsProjection: Projection = {
  name: 'collections',
  mode: 'inline',
  aggregates: [collectionsAggregate.name],
  handles: [
    'CollectionCreated',
    'CollectionChanged',
    'CollectionMoved',
    'CollectionDeleted',
    'CollectionTransferStarted',
    'CollectionsReceived',
    'CollectionsSent',
  ],
  collections: [collectionsSpec, collectionTreesSpec],
  apply,
};
