import type { PageNode, RevisionChange } from '../../revisions/index.ts';
import { keyOf, targetOfRef } from '../keys.ts';
import { type BodyLinks, linksOfMetadata, type Outgoing } from '../outgoing.ts';
import {
  contentLocation,
  fileLocation,
  type LinkSourceDocument,
  linksOf,
  pageLocation,
  type StoredLink,
} from './collections.ts';
import type { LinksDraft } from './draft.ts';

type Change<K extends RevisionChange['kind']> = Extract<RevisionChange, { readonly kind: K }>;

/** What a fold works on. */
export interface LinkFoldInput {
  readonly draft: LinksDraft;
  readonly spaceId: string;
  /** Links of a body; none for one that nobody has seen. */
  readonly body: (documentId: string) => Promise<BodyLinks>;
}

/**
 * Applies a change of the primary line of a space. Total, as trees are: what names a missing page changes nothing, and a
 * missing parent means the top level.
 */
export const applyToLinks = async (input: LinkFoldInput, change: RevisionChange): Promise<void> => {
  const { draft, spaceId } = input;
  switch (change.kind) {
    case 'page_inserted':
      return insert(input, change.page);
    case 'page_edited':
      return edit(input, change);
    case 'page_moved':
      return move(input, change);
    case 'page_deleted':
      return remove(input, change.pageId);
    case 'file_put':
      draft.putSource(fileLocation(change.file.id), {});
      return draft.toggled({ kind: 'file', space: spaceId, file: change.file.id }, true);
    case 'file_deleted':
      draft.putSource(fileLocation(change.fileId), null);
      return draft.toggled({ kind: 'file', space: spaceId, file: change.fileId }, false);
    case 'reusable_content_put':
      return putContent(input, change);
    case 'reusable_content_deleted':
      return removeContent(input, change.contentId);
    default:
  }
};

/** Puts the parts of a page's links that changed. */
const put = async (
  { draft, spaceId }: LinkFoldInput,
  pageId: string,
  before: LinkSourceDocument,
  changed: Partial<LinkSourceDocument>,
): Promise<void> => {
  const location = pageLocation(pageId);
  const after = { ...before, ...changed };
  draft.putSource(location, after);
  await draft.relink(location, linksOf(before), linksOf(after));
  if (changed.anchors === undefined) return;
  const old = new Set(before.anchors);
  const now = new Set(changed.anchors);
  for (const anchor of now)
    if (!old.has(anchor)) await draft.toggled({ kind: 'anchor', space: spaceId, page: pageId, anchor }, true);
  for (const anchor of old)
    if (!now.has(anchor)) await draft.toggled({ kind: 'anchor', space: spaceId, page: pageId, anchor }, false);
};

const stored = (spaceId: string, pageId: string | undefined, refs: readonly Outgoing[]): readonly StoredLink[] =>
  refs.flatMap(({ ref, node }): readonly StoredLink[] => {
    const target = targetOfRef(ref, spaceId, pageId);
    if (target === undefined) return [];
    return [node === undefined ? [keyOf(target)] : [keyOf(target), node]];
  });

const parts = async (
  { spaceId, body }: LinkFoldInput,
  pageId: string,
  { metadata, target, documentId }: Partial<Pick<PageNode, 'metadata' | 'target' | 'documentId'>>,
): Promise<Partial<LinkSourceDocument>> => {
  const found = documentId === undefined ? undefined : await body(documentId);
  return {
    ...(target === undefined ? {} : { to: stored(spaceId, pageId, [{ ref: target }]) }),
    ...(metadata === undefined ? {} : { own: stored(spaceId, pageId, linksOfMetadata(metadata)) }),
    ...(found === undefined ? {} : { body: stored(spaceId, pageId, found.refs), anchors: found.anchors }),
  };
};

const insert = async (input: LinkFoldInput, page: PageNode): Promise<void> => {
  const { draft, spaceId } = input;
  const location = pageLocation(page.id);
  let before = await draft.source(location);
  if (before === undefined) {
    const found = page.parent === null ? undefined : await draft.source(pageLocation(page.parent));
    const parent = found === undefined ? null : page.parent;
    before = { parent };
    draft.putSource(location, before);
    await below(draft, parent, (ids) => [...ids, page.id]);
    await draft.toggled({ kind: 'page', space: spaceId, page: page.id }, true);
  }
  const whole = { to: [], own: [], body: [], anchors: [], ...(await parts(input, page.id, page)) };
  await put(input, page.id, before, whole);
};

const edit = async (input: LinkFoldInput, change: Change<'page_edited'>): Promise<void> => {
  const before = await input.draft.source(pageLocation(change.pageId));
  if (before !== undefined) await put(input, change.pageId, before, await parts(input, change.pageId, change));
};

const below = async (
  draft: LinksDraft,
  parent: string | null | undefined,
  change: (ids: readonly string[]) => readonly string[],
): Promise<void> => {
  // The top level is never deleted, so nobody asks what is below it.
  if (parent === null || parent === undefined) return;
  const found = await draft.source(pageLocation(parent));
  if (found !== undefined) draft.putSource(pageLocation(parent), { ...found, below: change(found.below ?? []) });
};

const move = async ({ draft }: LinkFoldInput, { pageId, parent: wanted }: Change<'page_moved'>): Promise<void> => {
  const page = await draft.source(pageLocation(pageId));
  if (page === undefined) return;
  const found = wanted === null ? undefined : await draft.source(pageLocation(wanted));
  const parent = found === undefined ? null : wanted;
  for (let at: string | null | undefined = parent; at; at = (await draft.source(pageLocation(at)))?.parent)
    if (at === pageId) return;
  if (parent === (page.parent ?? null)) return;
  await below(draft, page.parent, (ids) => ids.filter((id) => id !== pageId));
  draft.putSource(pageLocation(pageId), { ...page, parent });
  await below(draft, parent, (ids) => [...ids, pageId]);
};

const remove = async ({ draft, spaceId }: LinkFoldInput, pageId: string): Promise<void> => {
  const top = await draft.source(pageLocation(pageId));
  if (top === undefined) return;
  await below(draft, top.parent, (ids) => ids.filter((id) => id !== pageId));
  const gone = [pageId];
  for (let id = gone.pop(); id !== undefined; id = gone.pop()) {
    const location = pageLocation(id);
    const page = await draft.source(location);
    if (page === undefined) continue;
    gone.push(...(page.below ?? []));
    draft.putSource(location, null);
    await draft.relink(location, linksOf(page), []);
    await draft.toggled({ kind: 'page', space: spaceId, page: id }, false);
    for (const anchor of page.anchors ?? [])
      await draft.toggled({ kind: 'anchor', space: spaceId, page: id, anchor }, false);
  }
};

const putContent = async (
  { draft, spaceId, body }: LinkFoldInput,
  { content }: Change<'reusable_content_put'>,
): Promise<void> => {
  const location = contentLocation(content.id);
  const before = await draft.source(location);
  const found = content.documentId === undefined ? undefined : await body(content.documentId);
  const after: LinkSourceDocument = { body: stored(spaceId, undefined, found?.refs ?? []) };
  draft.putSource(location, after);
  await draft.relink(location, linksOf(before), linksOf(after));
  if (before === undefined) await draft.toggled({ kind: 'content', space: spaceId, content: content.id }, true);
};

const removeContent = async ({ draft, spaceId }: LinkFoldInput, contentId: string): Promise<void> => {
  const location = contentLocation(contentId);
  const before = await draft.source(location);
  if (before === undefined) return;
  draft.putSource(location, null);
  await draft.relink(location, linksOf(before), []);
  await draft.toggled({ kind: 'content', space: spaceId, content: contentId }, false);
};
