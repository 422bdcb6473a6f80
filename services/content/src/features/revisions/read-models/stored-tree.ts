import type { CollectionSpec } from '@bindery/read-store';
import { Problem } from '@bindery/service-kit';
import type { RevisionChange, RevisionInfo } from '../model.ts';
import { foldVersion, type SnapshotChunk, treeOfChunks } from '../snapshot.ts';
import { emptyTree, type RevisionTree } from '../tree.ts';
import { applyChanges } from '../tree-draft.ts';
import { revisionPartsCollection, revisionsCollection, snapshotsCollection } from './collections.ts';

/** How a revision's tree is put together: a whole tree, and the revisions that follow it up to this one. */
export interface Chain {
  /** Null = the empty tree. */
  readonly snapshot: { readonly revision: string; readonly chunks: number; readonly fold: number } | null;
  /** Oldest first. Empty when the snapshot is of this very revision. */
  readonly steps: readonly Step[];
  /** Number of changes in the steps. */
  readonly weight: number;
}
export interface Step {
  readonly id: string;
  /** Earlier pieces of the revision, in `content.revision-parts`. */
  readonly parts: number;
}

/**
 * A revision as stored. What was written by others (front matter keys among it) is kept as text, so that no store reads
 * meaning into its keys (PITFALLS 44).
 */
export interface RevisionDocument extends RevisionInfo {
  /** JSON of the changes from the first parent. */
  readonly changes: string;
  readonly parts: number;
  /** About how many pages it has. */
  readonly pages: number;
  /** Absent when the parent was not there to continue from. */
  readonly chain?: Chain;
}
export interface TextDocument {
  readonly json: string;
}

/** Where stored documents are read. */
export interface TreeSource {
  /** Any number of ids; missing ones are absent. */
  getMany<T>(collection: CollectionSpec, ids: readonly string[]): Promise<ReadonlyMap<string, T>>;
  /** A tree that is in memory already. */
  cached(revisionId: string): RevisionTree | undefined;
}

/** Key of a piece of a revision or of a snapshot. */
export const pieceId = (revisionId: string, index: number): string => `${revisionId}:${index}`;

/** More steps back than this without a whole tree are not walked. */
const maxWalk = 100_000;

/** @throws Problem unavailable when a piece is not there (yet) */
export const loadStoredTree = async (document: RevisionDocument, source: TreeSource): Promise<RevisionTree> => {
  const { chain } = document;
  if (chain === undefined || (chain.snapshot !== null && chain.snapshot.fold !== foldVersion))
    return walkBack(document, source);
  const { steps, snapshot } = chain;
  let tree: RevisionTree | undefined;
  let from = steps.length;
  for (; from > 0 && tree === undefined; from -= 1) tree = source.cached(steps[from - 1]?.id ?? '');
  const start = tree === undefined ? 0 : from + 1;
  tree ??= snapshot === null ? emptyTree : await loadSnapshot(snapshot, source);
  return replay(tree, steps.slice(start), document, source);
};

const loadSnapshot = async (snapshot: NonNullable<Chain['snapshot']>, source: TreeSource): Promise<RevisionTree> => {
  const cached = source.cached(snapshot.revision);
  if (cached !== undefined) return cached;
  const ids = Array.from({ length: snapshot.chunks }, (_, index) => pieceId(snapshot.revision, index));
  const found = await source.getMany<TextDocument>(snapshotsCollection, ids);
  return treeOfChunks(ids.map((id) => parsed<SnapshotChunk>(found.get(id)?.json, id)));
};

const replay = async (
  start: RevisionTree,
  steps: readonly Step[],
  own: RevisionDocument,
  source: TreeSource,
): Promise<RevisionTree> => {
  if (steps.length === 0) return start;
  const others = steps.filter((step) => step.id !== own.id).map((step) => step.id);
  const pieces = steps.flatMap((step) => Array.from({ length: step.parts }, (_, index) => pieceId(step.id, index)));
  const [revisions, parts] = await Promise.all([
    source.getMany<RevisionDocument>(revisionsCollection, others),
    source.getMany<TextDocument>(revisionPartsCollection, pieces),
  ]);
  let tree = start;
  for (const step of steps) {
    for (let index = 0; index < step.parts; index += 1) {
      const id = pieceId(step.id, index);
      tree = applyChanges(tree, parsed<readonly RevisionChange[]>(parts.get(id)?.json, id));
    }
    const text = step.id === own.id ? own.changes : revisions.get(step.id)?.changes;
    tree = applyChanges(tree, parsed<readonly RevisionChange[]>(text, step.id));
  }
  return tree;
};

/** Without a usable whole tree: first parent by first parent to one that has, or to the first revision. */
const walkBack = async (document: RevisionDocument, source: TreeSource): Promise<RevisionTree> => {
  const steps: RevisionDocument[] = [];
  let at: RevisionDocument = document;
  while (steps.length < maxWalk) {
    steps.push(at);
    const [parent] = at.parents;
    if (parent === undefined) break;
    const cached = source.cached(parent);
    if (cached !== undefined) return replayAll(cached, steps, source);
    const found = await source.getMany<RevisionDocument>(revisionsCollection, [parent]);
    const before = found.get(parent);
    if (before === undefined) throw incomplete(parent);
    const usable = before.chain !== undefined && (before.chain.snapshot?.fold ?? foldVersion) === foldVersion;
    if (usable) return replayAll(await loadStoredTree(before, source), steps, source);
    at = before;
  }
  return replayAll(emptyTree, steps, source);
};

const replayAll = async (
  start: RevisionTree,
  newestFirst: readonly RevisionDocument[],
  source: TreeSource,
): Promise<RevisionTree> => {
  let tree = start;
  for (const document of newestFirst.toReversed())
    tree = await replay(tree, [{ id: document.id, parts: document.parts }], document, source);
  return tree;
};

const parsed = <T>(json: string | undefined, id: string): T => {
  if (json === undefined) throw incomplete(id);
  return JSON.parse(json);
};
/** 503: something that was appended is not (yet) readable. */
export const incomplete = (id: string): Problem =>
  new Problem('unavailable', 'revision.incomplete', 'The content is not completely readable yet; try again.', {
    retryAfter: 1,
    details: { missing: id },
  });
