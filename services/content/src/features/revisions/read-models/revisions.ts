import type { DomainEvent, Projection, ProjectionWrite, Recorded } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import { textOfDocument } from '../document-text.ts';
import {
  type PurgedContent,
  purgedRevision,
  type RevisionChange,
  type RevisionInfo,
  type StoredDocument,
} from '../model.ts';
import { chunksOf, foldVersion } from '../snapshot.ts';
import {
  documentsCollection,
  revisionPartsCollection,
  revisionsCollection,
  snapshotsCollection,
} from './collections.ts';
import { type Chain, loadStoredTree, pieceId, type RevisionDocument, type TreeSource } from './stored-tree.ts';

/** What an event contributes to a revision: its last piece, with what is known of it, or an earlier one. */
export type RevisionPiece = {
  readonly spaceId: string;
  readonly changes: readonly RevisionChange[];
  readonly documents: readonly StoredDocument[];
} & (
  | { readonly info: RevisionInfo; readonly parts: number }
  | { readonly revisionId: string; readonly part: number; readonly info?: undefined }
);

/** How the events of one aggregate make revisions. */
export interface RevisionSource {
  readonly aggregate: string;
  readonly handles: readonly string[];
  /** Only events of the types in `handles` are asked for. */
  readonly read: (event: Recorded<DomainEvent>) => RevisionPiece | undefined;
  /** What an event removes for good. */
  readonly purged?: (event: Recorded<DomainEvent>) => PurgedContent | undefined;
}

/** What an event removes for good, whichever source it is of. */
export const purgedBy = (sources: readonly RevisionSource[], event: Recorded<DomainEvent>): PurgedContent | undefined =>
  sources.find(({ aggregate }) => event.stream.startsWith(`${aggregate}-`))?.purged?.(event);

const remover =
  (collection: CollectionSpec) =>
  (id: string): ProjectionWrite => ({
    collection,
    write: { kind: 'remove', id, revision: purgedRevision },
  });

const pieces = (revision: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => pieceId(revision, index));

/** Steps and changes after which a revision gets a whole tree of its own; larger trees wait longer. */
const isLong = (chain: Chain, pages: number): boolean =>
  chain.steps.length >= Math.max(50, pages / 100) || chain.weight >= Math.max(500, pages / 2);

const reading = (
  name: string,
  collections: readonly CollectionSpec[],
  sources: readonly RevisionSource[],
): Omit<Projection, 'apply'> & { piece: (event: Recorded<DomainEvent>) => RevisionPiece | undefined } => ({
  name,
  mode: 'inline',
  aggregates: sources.map((source) => source.aggregate),
  handles: sources.flatMap((source) => source.handles),
  collections,
  piece: (event) => sources.find(({ aggregate }) => event.stream.startsWith(`${aggregate}-`))?.read(event),
});

const putter =
  (event: Recorded<DomainEvent>) =>
  (collection: CollectionSpec, id: string, document: unknown): ProjectionWrite => ({
    collection,
    write: { kind: 'put', id, revision: event.revision, document },
  });

/**
 * Every revision of every space and branch, stored as the changes from its first parent, with whole trees in between, so
 * that any of them is there after a bounded number of reads.
 * @param cached trees in memory; saves reading them back when a whole tree is due
 */
export const revisionsProjection = (
  sources: readonly RevisionSource[],
  cached: TreeSource['cached'] = () => undefined,
): Projection => {
  const { piece, ...rest } = reading(
    'revisions',
    [revisionsCollection, revisionPartsCollection, snapshotsCollection],
    sources,
  );
  return {
    ...rest,
    async apply(event, reader) {
      const gone = purgedBy(sources, event)?.revisions ?? [];
      if (gone.length > 0)
        return gone.flatMap(({ id, parts, chunks }) => [
          ...pieces(id, parts).map(remover(revisionPartsCollection)),
          ...pieces(id, chunks).map(remover(snapshotsCollection)),
          remover(revisionsCollection)(id),
        ]);
      const found = piece(event);
      if (found === undefined) return [];
      const put = putter(event);
      const changes = JSON.stringify(found.changes);
      if (found.info === undefined)
        return [put(revisionPartsCollection, pieceId(found.revisionId, found.part), { json: changes })];
      const { info, parts } = found;
      const [first] = info.parents;
      const parent = first === undefined ? undefined : await reader.get<RevisionDocument>(revisionsCollection, first);
      const before: Chain | undefined = first === undefined ? { snapshot: null, steps: [], weight: 0 } : parent?.chain;
      const pages = (parent?.pages ?? 0) + grown(found.changes) + parts * 500;
      const plain: RevisionDocument = { ...info, changes, parts, pages };
      if (before === undefined) return [put(revisionsCollection, info.id, plain)];
      const chain: Chain = {
        snapshot: before.snapshot,
        steps: [...before.steps, { id: info.id, parts }],
        weight: before.weight + found.changes.length + parts * 500,
      };
      const document: RevisionDocument = { ...plain, chain };
      if (!isLong(chain, pages)) return [put(revisionsCollection, info.id, document)];
      const tree = await loadStoredTree(document, {
        cached,
        async getMany<T>(collection: CollectionSpec, ids: readonly string[]) {
          const values = new Map<string, T>();
          for (const id of ids) {
            const value = await reader.get<T>(collection, id);
            if (value !== undefined) values.set(id, value);
          }
          return values;
        },
      });
      const chunks = chunksOf(tree);
      const snapshot = { revision: info.id, chunks: chunks.length, fold: foldVersion };
      return [
        ...chunks.map((chunk, index) =>
          put(snapshotsCollection, pieceId(info.id, index), { json: JSON.stringify(chunk) }),
        ),
        put(revisionsCollection, info.id, {
          ...document,
          pages: tree.pageCount,
          chain: { snapshot, steps: [], weight: 0 },
        }),
      ];
    },
  };
};

const grown = (changes: readonly RevisionChange[]): number =>
  changes.reduce((sum, { kind }) => sum + Number(kind === 'page_inserted') - Number(kind === 'page_deleted'), 0);

/** Key of a body. */
export const documentKey = (spaceId: string, documentId: string): string => `${spaceId}:${documentId}`;

/** Bodies, each written once by the event that brings it. */
export const documentsProjection = (sources: readonly RevisionSource[]): Projection => {
  const { piece, ...rest } = reading('documents', [documentsCollection], sources);
  return {
    ...rest,
    apply(event) {
      const gone = purgedBy(sources, event);
      if (gone !== undefined)
        return (gone.documents ?? []).map((id) => remover(documentsCollection)(documentKey(gone.spaceId, id)));
      const found = piece(event);
      const put = putter(event);
      return (found?.documents ?? []).map(({ id, document }) =>
        put(documentsCollection, documentKey(found?.spaceId ?? '', id), { json: textOfDocument(document) }),
      );
    },
  };
};
