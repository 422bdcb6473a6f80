import type { JSONDocument, RevertPageInput } from '@bindery/contracts';
import { diffBlocks, revertBlocks } from '@bindery/documents';
import { type PageNode, type RevisionTree, sameContent, uniqueSlug } from '../../revisions/index.ts';
import { loadedBody } from './body.ts';
import type { EditSession } from './edit-session.ts';
import { fault } from './faults.ts';
import { currentBody } from './update-page.ts';

/** The revision that a revert goes back to. */
export interface RevertSource {
  readonly revisionId: string;
  readonly tree: RevisionTree;
}

/** `revert_page` (gaps-filled section 7). @throws Problem invalid naming the field */
export const revertPage = (
  session: EditSession,
  input: RevertPageInput,
  field: string,
  source: RevertSource,
  stored: ReadonlyMap<string, JSONDocument>,
): void => {
  const now = session.draft.page(input.page);
  const old = source.tree.page(input.page);
  if (old === undefined) {
    const why = now === undefined ? 'there is no such page' : `the page is not in revision ${source.revisionId}`;
    throw fault('no_page', `${field}.page`, why);
  }
  if (input.block !== undefined) revertSomeBlocks(session, input, field, now, old, stored);
  else if (now === undefined) restore(session, old, source.tree);
  else goBack(session, now, old);
  // A page that the batch itself deleted was there before it, and is again.
  const isBack = now === undefined && session.start.page(old.id) === undefined;
  session.touch(old.id, isBack ? { kind: 'created' } : { kind: 'updated' });
};

/** Content and metadata as they were; the place stays. */
const goBack = (session: EditSession, now: PageNode, old: PageNode): void => {
  const taken = (slug: string) => session.isTaken(now.parent, slug, now.id);
  const slug = old.type === 'link' ? old.metadata.slug : uniqueSlug(old.metadata.slug, taken);
  session.bodies.delete(now.id);
  const metadata = { ...old.metadata, slug };
  if (sameContent(now, { ...old, metadata })) return;
  session.apply({
    kind: 'page_edited',
    pageId: now.id,
    metadata,
    ...(old.documentId === undefined ? {} : { documentId: old.documentId }),
    ...(old.target === undefined ? {} : { target: old.target }),
    updatedAt: session.now,
  });
};

/**
 * A deleted page comes back where it was, or as near as what is left allows. What was below it stays away, unless it went
 * with it in this very batch: then deleting and bringing back is nothing, for all of it.
 */
const restore = (session: EditSession, old: PageNode, tree: RevisionTree): void => {
  const below = session.start.page(old.id) === undefined ? [] : deletedBelow(session, old.id);
  restoreOne(session, old, tree);
  for (const page of below) {
    restoreOne(session, page, session.start);
    session.touch(page.id, { kind: 'updated' });
  }
};

/** Pages that stood below one when the batch began and are gone, parents first. */
const deletedBelow = (session: EditSession, pageId: string): readonly PageNode[] =>
  [...session.start.below(pageId)].filter(({ id }) => session.draft.page(id) === undefined);

const restoreOne = (session: EditSession, old: PageNode, tree: RevisionTree): void => {
  let parent = old.parent;
  while (parent !== null && session.draft.page(parent) === undefined) parent = tree.page(parent)?.parent ?? null;
  const siblings = tree.children(old.parent);
  const next = siblings.slice(siblings.indexOf(old.id) + 1).find((id) => session.draft.page(id)?.parent === parent);
  const taken = (slug: string) => session.isTaken(parent, slug, old.id);
  const slug = old.type === 'link' ? old.metadata.slug : uniqueSlug(old.metadata.slug, taken);
  session.apply({
    kind: 'page_inserted',
    page: { ...old, parent, metadata: { ...old.metadata, slug }, updatedAt: session.now },
    before: next ?? null,
  });
};

const revertSomeBlocks = (
  session: EditSession,
  input: RevertPageInput,
  field: string,
  now: PageNode | undefined,
  old: PageNode,
  stored: ReadonlyMap<string, JSONDocument>,
): void => {
  if (now === undefined)
    throw fault('no_page', `${field}.page`, 'the page is deleted; revert it without `block` first');
  if (now.type !== 'document')
    throw fault('no_document', `${field}.page`, `page ${now.id} is a ${now.type} page and has no blocks`);
  const current = currentBody(session, now, stored);
  const before = loadedBody(old.documentId, stored);
  const known = keysOf(current, keysOf(before));
  for (const [index, key] of (input.block ?? []).entries())
    if (!known.has(key))
      throw fault('no_block', `${field}.block[${index}]`, `there is no block ${JSON.stringify(key)}`);
  const document = revertBlocks(current, before, input.block ?? []);
  if (diffBlocks(current, document).length === 0) return;
  const pending = session.bodies.get(now.id);
  const original = pending === undefined ? now.documentId : pending.before;
  session.bodies.set(now.id, {
    documentId: pending?.documentId ?? session.newId(),
    document,
    isMarkdown: pending?.isMarkdown ?? false,
    ...(original === undefined ? {} : { before: original }),
  });
};

/** Keys of all blocks, at any depth. */
const keysOf = (document: JSONDocument, into = new Set<string>()): Set<string> => {
  const stack: unknown[] = [document.nodes];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    if (Array.isArray(value)) stack.push(...value);
    else if (typeof value === 'object' && value !== null) {
      const { key, nodes, fragments } = value as { key?: unknown; nodes?: unknown; fragments?: unknown };
      if (typeof key === 'string') into.add(key);
      if (nodes !== undefined) stack.push(nodes);
      if (fragments !== undefined) stack.push(fragments);
    }
  }
  return into;
};
