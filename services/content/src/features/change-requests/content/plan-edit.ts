import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ContentChangeInput, JSONDocument } from '@bindery/contracts';
import { mapReferences } from '@bindery/documents';
import {
  applyChanges,
  type FileNode,
  type PageMetadata,
  type RevisionChange,
  type RevisionTree,
  type StoredDocument,
} from '../../revisions/index.ts';
import { loadedBody } from './body.ts';
import { EditSession, type Outcome } from './edit-session.ts';
import { insertPage, nameInBatch } from './insert-page.ts';
import { linkResolver } from './links.ts';
import { type RevertSource, revertPage } from './revert-page.ts';
import { updatePage } from './update-page.ts';

/** Everything that a batch is decided on. */
export interface EditInput {
  readonly baseUrl: string;
  readonly spaceId: string;
  /** The branch as it is. */
  readonly tree: RevisionTree;
  readonly changes: readonly ContentChangeInput[];
  /** Files of the batch, taken in already, by index of their change. */
  readonly files: ReadonlyMap<number, readonly FileNode[]>;
  /** Where reverts go back to, by index of their change. */
  readonly reverts: ReadonlyMap<number, RevertSource>;
  /** Reads bodies by id. */
  readonly documents: (ids: readonly string[]) => Promise<ReadonlyMap<string, JSONDocument>>;
  readonly newId: () => string;
  /** ISO time. */
  readonly now: string;
}

/** What a batch does; no change at all when it left everything as it was. */
export interface EditPlan {
  readonly changes: readonly RevisionChange[];
  readonly documents: readonly StoredDocument[];
  readonly tree: RevisionTree;
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly files: readonly FileNode[];
}

/**
 * Applies a batch in order, all or nothing (gaps-filled section 7). Links are resolved last, when all pages are there.
 * @throws Problem invalid whose message names `changes[i].field`
 */
export const planEdit = async (input: EditInput): Promise<EditPlan> => {
  const session = new EditSession(input.tree, input.newId, input.now);
  const stored = await input.documents(neededDocuments(input));
  for (const [index, change] of input.changes.entries()) {
    const field = `changes[${index}]`;
    // Reading fifty long pages takes a while; between two of them other requests have their turn.
    if (index > 0) await nextTurn();
    switch (change.operation) {
      case 'insert_page':
        insertPage(session, change, field);
        break;
      case 'update_page':
        updatePage(session, change, field, stored);
        break;
      case 'delete_page':
        deletePage(session, change.page, `${field}.page`);
        break;
      case 'revert_page': {
        const source = input.reverts.get(index);
        if (source === undefined) throw new Error('a revert has no revision to go back to');
        revertPage(session, change, field, source, stored);
        break;
      }
      case 'insert_files':
        for (const [at, file] of (input.files.get(index) ?? []).entries()) {
          const ref = change.files[at]?.ref;
          if (ref !== undefined) nameInBatch(session, ref, `${field}.files[${at}].ref`).fileRefs.set(ref, file.id);
          session.apply({ kind: 'file_put', file });
        }
        break;
    }
  }
  return finish(session, input, stored);
};

/**
 * Bodies that the batch compares with: of every page whose body it changes in part or replaces, the one it has, and each
 * that a revert may give it before that.
 */
const neededDocuments = ({ tree, changes, reverts }: EditInput): readonly string[] => {
  const compared = new Set(
    changes.flatMap((change) => {
      if (change.operation === 'update_page') return change.document === undefined ? [] : change.page;
      return change.operation === 'revert_page' && change.block !== undefined ? change.page : [];
    }),
  );
  const current = [...compared].flatMap((id) => tree.page(id)?.documentId ?? []);
  const reverted = changes.flatMap((change, index) =>
    change.operation === 'revert_page' && compared.has(change.page)
      ? (reverts.get(index)?.tree.page(change.page)?.documentId ?? [])
      : [],
  );
  return [...new Set([...current, ...reverted])];
};

const deletePage = (session: EditSession, pageId: string, field: string): void => {
  session.existing(pageId, field);
  const gone = [pageId];
  for (const id of gone) gone.push(...session.draft.children(id));
  session.apply({ kind: 'page_deleted', pageId });
  for (const id of gone) {
    session.bodies.delete(id);
    session.touch(id, { kind: 'deleted' });
  }
};

const finish = async (
  session: EditSession,
  input: EditInput,
  stored: ReadonlyMap<string, JSONDocument>,
): Promise<EditPlan> => {
  const structure = session.draft.done();
  const { baseUrl, spaceId } = input;
  const targets = { baseUrl, spaceId, tree: structure, pageRefs: session.pageRefs, fileRefs: session.fileRefs };
  const documents: StoredDocument[] = [];
  const edits: RevisionChange[] = [];
  for (const [pageId, { documentId, document, isMarkdown, before }] of session.bodies) {
    const page = structure.page(pageId);
    if (page === undefined) continue;
    await nextTurn();
    const resolve = linkResolver(targets, page);
    const cover = isMarkdown ? coverWithLinks(page.metadata, resolve) : undefined;
    if (cover !== undefined)
      edits.push({ kind: 'page_edited', pageId, metadata: { ...page.metadata, cover }, updatedAt: session.now });
    const body = isMarkdown ? withLinks(document, resolve) : document;
    if (before !== undefined && isDeepStrictEqual(loadedBody(before, stored), body)) continue;
    documents.push({ id: documentId, document: body });
    if (page.documentId !== documentId) edits.push({ kind: 'page_edited', pageId, documentId, updatedAt: session.now });
  }
  return {
    changes: [...session.changes, ...edits],
    documents,
    tree: applyChanges(structure, edits),
    outcomes: session.outcomes,
    files: [...input.files.values()].flat(),
  };
};

const withLinks = (document: JSONDocument, resolve: ReturnType<typeof linkResolver>): JSONDocument =>
  mapReferences(document, (ref, context) => (ref.kind === 'url' ? (resolve(ref.url, context) ?? ref) : ref));

/** The cover of front matter names its pictures by address, as links do; undefined when there is nothing to resolve. */
const coverWithLinks = (
  { cover }: PageMetadata,
  resolve: ReturnType<typeof linkResolver>,
): PageMetadata['cover'] | undefined => {
  const found = (['ref', 'refDark'] as const).flatMap((field) => {
    const { kind, url } = Object(cover?.[field]) as { kind?: unknown; url?: unknown };
    const ref = kind === 'url' && typeof url === 'string' ? resolve(url, 'image') : undefined;
    return ref === undefined ? [] : [[field, ref] as const];
  });
  return found.length === 0 ? undefined : { ...cover, ...Object.fromEntries(found) };
};
