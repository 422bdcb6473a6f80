import type { FileNode, PageNode, ReusableContentNode, RevisionChange } from './model.ts';
import { emptyTree, type RevisionTree } from './tree.ts';
import { applyChanges } from './tree-draft.ts';

/** Version of the fold that made a snapshot; raised whenever `applyChanges` means something else. Others are ignored. */
export const foldVersion = 1;

/** Entries in one chunk of a snapshot: about a megabyte of JSON. */
const chunkSize = 2000;

/** A piece of a whole tree, as stored. Pages come parents first, siblings in order. */
export interface SnapshotChunk {
  readonly pages: readonly PageNode[];
  readonly files: readonly FileNode[];
  readonly contents: readonly ReusableContentNode[];
  readonly variables?: RevisionTree['variables'];
}

/** A tree in pieces of at most 2,000 entries of each kind; at least one piece. */
export const chunksOf = (tree: RevisionTree): readonly SnapshotChunk[] => {
  const pages = [...tree.walk()];
  const files = [...tree.files()];
  const contents = [...tree.reusableContents()];
  const count = Math.max(1, Math.ceil(Math.max(pages.length, files.length, contents.length) / chunkSize));
  return Array.from({ length: count }, (_, index) => {
    const cut = <T>(all: readonly T[]) => all.slice(index * chunkSize, (index + 1) * chunkSize);
    const piece = { pages: cut(pages), files: cut(files), contents: cut(contents) };
    return index === 0 ? { ...piece, variables: tree.variables } : piece;
  });
};

/** The tree that was cut into these pieces. */
export const treeOfChunks = (chunks: readonly SnapshotChunk[]): RevisionTree =>
  applyChanges(
    emptyTree,
    chunks.flatMap((chunk): readonly RevisionChange[] => [
      ...chunk.pages.map((page): RevisionChange => ({ kind: 'page_inserted', page, before: null })),
      ...chunk.files.map((file): RevisionChange => ({ kind: 'file_put', file })),
      ...chunk.contents.map((content): RevisionChange => ({ kind: 'reusable_content_put', content })),
      ...(chunk.variables === undefined
        ? []
        : [{ kind: 'variables_set', variables: chunk.variables } satisfies RevisionChange]),
    ]),
  );
