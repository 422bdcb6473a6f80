import type { LiveCollection } from '@bindery/event-sourcing';
import type { Scalar } from '@bindery/read-store';
import type { PurgedContent, RevisionChange } from './model.ts';
import { revisionPartsCollection, revisionsCollection } from './read-models/collections.ts';
import { pieceId, type RevisionDocument, type TextDocument } from './read-models/stored-tree.ts';

/** What purging reads of revisions. */
export interface ContentRows {
  readonly live: LiveCollection;
}

/** Revisions that are read, and removed, at a time. */
const revisionBatch = 50;
/** Documents that are removed at a time. */
const documentBatch = 1000;

const documentsIn = (json: string): readonly string[] =>
  (JSON.parse(json) as readonly RevisionChange[]).flatMap((change) => {
    switch (change.kind) {
      case 'page_inserted':
        return change.page.documentId ?? [];
      case 'page_edited':
        return change.documentId ?? [];
      case 'reusable_content_put':
        return change.content.documentId ?? [];
      default:
        return [];
    }
  });

/**
 * What is stored of a space's revisions, those of its change requests and repository included, in pieces that fit into
 * events: documents before the revisions that name them, so that what was broken off is found again.
 */
export async function* purgeBatches({ live }: ContentRows, spaceId: string): AsyncGenerator<PurgedContent> {
  const revisions = live<RevisionDocument>(revisionsCollection);
  const parts = live<TextDocument>(revisionPartsCollection);
  let after: readonly Scalar[] | undefined;
  for (;;) {
    const page = await revisions.query({
      where: { spaceId },
      orderBy: [{ field: 'createdAt', direction: 'asc' }],
      limit: revisionBatch,
      ...(after ? { after } : {}),
    });
    let documents = new Set<string>();
    for (const { document } of page) {
      for (let index = 0; index <= document.parts; index += 1) {
        const own = index === document.parts;
        const json = own ? document.changes : (await parts.get(pieceId(document.id, index)))?.document.json;
        for (const id of json === undefined ? [] : documentsIn(json)) {
          documents.add(id);
          if (documents.size < documentBatch) continue;
          yield { spaceId, documents: [...documents] };
          documents = new Set();
        }
      }
    }
    if (documents.size > 0) yield { spaceId, documents: [...documents] };
    const gone = page.map(({ document: { id, parts: count, chain } }) => ({
      id,
      parts: count,
      chunks: chain?.snapshot?.revision === id ? chain.snapshot.chunks : 0,
    }));
    if (gone.length > 0) yield { spaceId, revisions: gone };
    const last = page.at(-1);
    if (last === undefined || page.length < revisionBatch) return;
    after = [last.document.createdAt, last.id];
  }
}
