import type { DomainEvent, Recorded } from './decider.ts';
import {
  aggregateIdOf,
  type DocumentPerStream,
  type DocumentsPerEvent,
  type Projection,
  type ProjectionReader,
  type ProjectionWrite,
} from './projection.ts';

const writeOf = (
  event: Recorded<DomainEvent>,
  mode: Projection['mode'],
): ((id: string, document: unknown) => ProjectionWrite['write']) => {
  const revision = mode === 'inline' ? event.revision : event.position;
  return (id, document) =>
    document === null ? { kind: 'remove', id, revision } : { kind: 'put', id, revision, document };
};

/** A projection with one document per stream, its id the aggregate's. Inline by default. */
export const documentPerStream = <Event extends DomainEvent, Doc>(
  definition: DocumentPerStream<Event, Doc>,
): Projection => {
  const { name, mode = 'inline', aggregate, collection, handles, evolve, keeps = mode === 'inline' } = definition;
  return {
    name,
    mode,
    aggregates: [aggregate],
    handles,
    collections: [collection],
    keeps,
    apply: async (event: Recorded<DomainEvent>, reader: ProjectionReader) => {
      const id = aggregateIdOf(event.stream);
      // Nothing of a stream comes before its first event; the store's guard refuses it where it was applied already.
      const before = event.revision === 0 ? undefined : await reader.get<Doc>(collection, id);
      // The runtime hands over only events of the types in `handles`.
      const after = evolve(before, event as Recorded<Event>);
      return after === undefined ? [] : [{ collection, write: writeOf(event, mode)(id, after) }];
    },
  };
};

/** A projection of documents that come complete with an event. Inline by default. */
export const documentsPerEvent = <Event extends DomainEvent>(definition: DocumentsPerEvent<Event>): Projection => {
  const { name, mode = 'inline', aggregates, collections, handles, toDocuments } = definition;
  return {
    name,
    mode,
    aggregates,
    handles,
    collections,
    apply: (event: Recorded<DomainEvent>) => {
      const write = writeOf(event, mode);
      return toDocuments(event as Recorded<Event>).map(({ collection, id, document }) => ({
        collection,
        write: write(id, document),
      }));
    },
  };
};
