import type { PageNode, RevisionChange } from './model.ts';
import { hasSlug, type RevisionTree } from './tree.ts';
import { applyChanges } from './tree-draft.ts';

/** A page for tests: named by its id, with what the test cares about. */
export const pageNode = (id: string, more: Partial<PageNode> = {}): PageNode => ({
  id,
  type: 'document',
  parent: null,
  metadata: { title: id, slug: id },
  documentId: `doc-${id}`,
  createdAt: '2026-01-01T00:00:00.000Z',
  ...more,
});

/** The insertion of such a page at the end of its siblings. */
export const inserted = (id: string, parent: string | null = null, more: Partial<PageNode> = {}): RevisionChange => ({
  kind: 'page_inserted',
  page: pageNode(id, { parent, ...more }),
  before: null,
});

/** All that a tree says, as plain data that tests can compare. */
export const shown = (tree: RevisionTree) => ({
  pages: [...tree.walk()].map(({ updatedAt: _, ...page }) => page),
  files: [...tree.files()].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  contents: [...tree.reusableContents()].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  variables: tree.variables,
});

/** What must hold in every tree, whatever was recorded. Returns what does not. */
export const brokenRules = (tree: RevisionTree): readonly string[] => {
  const broken: string[] = [];
  const seen = new Set<string>();
  for (const page of tree.walk()) {
    if (seen.has(page.id)) broken.push(`${page.id} is reached twice`);
    seen.add(page.id);
    if (!tree.children(page.parent).includes(page.id)) broken.push(`${page.id} is not among its parent's children`);
    if (hasSlug(page)) {
      const holder = tree.bySlug(page.parent, page.metadata.slug);
      const node = holder === undefined ? undefined : tree.page(holder);
      if (node === undefined || node.parent !== page.parent || node.metadata.slug !== page.metadata.slug)
        broken.push(`the slug of ${page.id} leads to ${holder}`);
    }
  }
  if (seen.size !== tree.pageCount) broken.push(`${tree.pageCount} pages, ${seen.size} reached`);
  return broken;
};

/** A source of choices for tests: whole numbers from 0 up. */
export type Choose = (below: number) => number;

/** A repeatable source of choices. */
export const choices = (seed: number): Choose => {
  let state = seed >>> 0 || 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * Math.max(1, below));
  };
};

/**
 * Edits a tree at random but validly, as decided changes are: no closed circles, no slug twice among siblings.
 * @param name makes new ids unlike those of another editor
 */
export const editAtRandom = (start: RevisionTree, count: number, choose: Choose, name: string): RevisionTree => {
  let tree = start;
  for (let step = 0; step < count; step += 1) tree = applyChanges(tree, [randomChange(tree, choose, `${name}${step}`)]);
  return tree;
};

const randomChange = (tree: RevisionTree, choose: Choose, id: string): RevisionChange => {
  const pages = [...tree.walk()];
  const parents = [null, ...pages.filter((page) => page.type !== 'link').map((page) => page.id)];
  const pick = pages[choose(pages.length)];
  const parent = parents[choose(parents.length)] ?? null;
  const siblings = tree.children(parent);
  const before = siblings[choose(siblings.length + 1)] ?? null;
  const kind = pick === undefined ? 0 : choose(13);
  if (pick === undefined || kind <= 1) return { kind: 'page_inserted', page: pageNode(id, { parent }), before };
  if (kind === 2 && tree.bySlug(parent, pick.metadata.slug) === undefined)
    return { kind: 'page_moved', pageId: pick.id, parent, before };
  if (kind === 3) return { kind: 'page_deleted', pageId: pick.id };
  if (kind === 4) return { kind: 'variables_set', variables: { ...tree.variables, [`v${choose(3)}`]: choose(5) } };
  if (kind === 5)
    return {
      kind: 'file_put',
      file: { id: `f${choose(3)}`, name: id, contentType: 'image/png', size: 1, sha256: 'x' },
    };
  if (kind === 8 && tree.file('f1') !== undefined) return { kind: 'file_deleted', fileId: 'f1' };
  if (kind === 9)
    return {
      kind: 'reusable_content_put',
      content: { id: `r${choose(3)}`, title: `t-${id}`, documentId: `doc-${id}` },
    };
  if (kind === 10 && tree.reusableContent('r1') !== undefined)
    return { kind: 'reusable_content_deleted', contentId: 'r1' };
  const updatedAt = `2026-01-02T00:00:00.${id}`;
  if (kind === 11) return { kind: 'page_edited', pageId: pick.id, documentId: `doc-${id}`, updatedAt };
  const slug = `s${choose(4)}`;
  if (kind === 12 && tree.bySlug(pick.parent, slug) === undefined)
    return { kind: 'page_edited', pageId: pick.id, metadata: { ...pick.metadata, slug }, updatedAt };
  const metadata =
    kind === 6 ? { ...pick.metadata, title: `t-${id}` } : { ...pick.metadata, description: `d-${choose(4)}` };
  return { kind: 'page_edited', pageId: pick.id, metadata, updatedAt };
};
