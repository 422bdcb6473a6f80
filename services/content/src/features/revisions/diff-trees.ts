import { sameContent, sameJson } from './equal.ts';
import type { PageNode, RevisionChange } from './model.ts';
import type { OrderedMap } from './ordered-map.ts';
import type { RevisionTree } from './tree.ts';

/**
 * The changes that lead from one tree to another: `applyChanges(from, diffTrees(from, to))` says the same as `to`.
 * Costs what differs when the two share their parts, and one look at every page when they do not.
 * Order: insertions and moves from the top down and from the right to the left, edits, deletions, files, the rest.
 */
export const diffTrees = (from: RevisionTree, to: RevisionTree): readonly RevisionChange[] => {
  if (from === to) return [];
  const changes: RevisionChange[] = [];
  placeChildren(from, to, changes);
  const touched = [...from.parts.pages.differing(to.parts.pages)];
  editPages(from, to, touched, changes);
  deletePages(from, to, touched, changes);
  diffEntries(from.parts.files, to.parts.files, {
    put: (file) => changes.push({ kind: 'file_put', file }),
    gone: (fileId) => changes.push({ kind: 'file_deleted', fileId }),
  });
  diffEntries(from.parts.contents, to.parts.contents, {
    put: (content) => changes.push({ kind: 'reusable_content_put', content }),
    gone: (contentId) => changes.push({ kind: 'reusable_content_deleted', contentId }),
  });
  if (!sameJson(from.variables, to.variables)) changes.push({ kind: 'variables_set', variables: to.variables });
  return changes;
};

/** Depth of a page below the top level; -1 for the top level itself. */
const depthOf = (tree: RevisionTree, parent: string): number => {
  let depth = -1;
  for (let at: string | null = parent === '' ? null : parent; at !== null; at = tree.page(at)?.parent ?? null)
    depth += 1;
  return depth;
};

const placeChildren = (from: RevisionTree, to: RevisionTree, changes: RevisionChange[]): void => {
  // Parents first: what a page goes under is then already where it will be, and no move can close a circle.
  const parents = [...from.parts.lists.differing(to.parts.lists)]
    .filter((key) => to.children(key === '' ? null : key).length > 0)
    .map((key) => ({ parent: key === '' ? null : key, depth: depthOf(to, key) }))
    .sort((a, b) => a.depth - b.depth);
  for (const { parent } of parents) {
    const list = to.children(parent);
    const { start, end, staying } = keptPlaces(list, from.children(parent));
    for (let index = end - 1; index >= start; index -= 1) {
      const id = list[index];
      const page = id === undefined ? undefined : to.page(id);
      if (page === undefined || staying.has(page.id)) continue;
      const before = list[index + 1] ?? null;
      if (from.page(page.id) === undefined) changes.push({ kind: 'page_inserted', page, before });
      else changes.push({ kind: 'page_moved', pageId: page.id, parent, before });
    }
  }
};

/**
 * Which ids keep their place: all before `start` and from `end` on, and between them the longest run of `list` that
 * stands in the same order in `earlier`. What is the same at both ends needs no search, and is nearly everything.
 */
const keptPlaces = (
  list: readonly string[],
  earlier: readonly string[],
): { readonly start: number; readonly end: number; readonly staying: ReadonlySet<string> } => {
  const staying = new Set<string>();
  let start = 0;
  while (start < list.length && list[start] === earlier[start]) start += 1;
  let end = list.length;
  let earlierEnd = earlier.length;
  while (end > start && earlierEnd > start && list[end - 1] === earlier[earlierEnd - 1]) {
    end -= 1;
    earlierEnd -= 1;
  }
  const places = new Map<string, number>();
  for (let index = start; index < earlierEnd; index += 1) places.set(earlier[index] ?? '', index);

  const tails: { readonly place: number; readonly node: number }[] = [];
  const nodes: { readonly id: string; readonly before: number }[] = [];
  for (let index = start; index < end; index += 1) {
    const id = list[index] ?? '';
    const place = places.get(id);
    if (place === undefined) continue;
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((tails[middle]?.place ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    tails[low] = { place, node: nodes.length };
    nodes.push({ id, before: tails[low - 1]?.node ?? -1 });
  }
  for (let at = tails.at(-1)?.node ?? -1; at >= 0; ) {
    const node = nodes[at];
    if (node === undefined) break;
    staying.add(node.id);
    at = node.before;
  }
  return { start, end, staying };
};

const editPages = (
  from: RevisionTree,
  to: RevisionTree,
  touched: readonly string[],
  changes: RevisionChange[],
): void => {
  for (const id of touched) {
    const before = from.page(id);
    const after = to.page(id);
    if (before !== undefined && after !== undefined) {
      const change = editOf(before, after);
      if (change !== undefined) changes.push(change);
    }
  }
};

/** The edit that makes one page say what the other says; undefined when it does already. */
export const editOf = (before: PageNode, after: PageNode): RevisionChange | undefined => {
  if (sameContent(before, after) && before.updatedAt === after.updatedAt) return undefined;
  return {
    kind: 'page_edited',
    pageId: after.id,
    ...(sameJson(before.metadata, after.metadata) ? {} : { metadata: after.metadata }),
    ...(before.documentId === after.documentId || after.documentId === undefined
      ? {}
      : { documentId: after.documentId }),
    ...(sameJson(before.target, after.target) || after.target === undefined ? {} : { target: after.target }),
    updatedAt: after.updatedAt ?? after.createdAt ?? before.updatedAt ?? '',
  };
};

const deletePages = (
  from: RevisionTree,
  to: RevisionTree,
  touched: readonly string[],
  changes: RevisionChange[],
): void => {
  const gone = new Set(touched.filter((id) => to.page(id) === undefined));
  for (const id of gone) {
    const parent = from.page(id)?.parent ?? null;
    // Below a deleted page it goes with it.
    if (parent === null || !gone.has(parent)) changes.push({ kind: 'page_deleted', pageId: id });
  }
};

const diffEntries = <V extends { readonly id: string }>(
  from: OrderedMap<V>,
  to: OrderedMap<V>,
  emit: { readonly put: (value: V) => void; readonly gone: (id: string) => void },
): void => {
  if (from === to) return;
  const touched = new Set(from.entries.differing(to.entries));
  for (const id of touched) if (to.get(id) === undefined) emit.gone(id);
  if (touched.size === 0) return;
  // In the order of `to`, so that new entries arrive in it.
  for (const value of to.values()) {
    if (touched.has(value.id) && !sameJson(from.get(value.id), value)) emit.put(value);
  }
};
