import type { RevisionChange } from './model.ts';
import type { RevisionTree } from './tree.ts';

/** Something that both sides changed and no rule decides. */
export interface TreeConflict {
  /** What `pageId` names: a page unless stated. */
  readonly kind?: 'reusable-content' | 'file' | 'variable';
  /** Id of the page, file or reusable content, or name of the variable. */
  readonly pageId: string;
  readonly field: 'document' | 'title' | 'slug' | 'position' | 'deleted' | 'metadata';
  /** Keys of the blocks in which both versions stand. */
  readonly blocks?: readonly string[];
}

/** A body that both sides changed: read all three, merge them, and give the result to `mergeTrees`. */
export interface DocumentsToMerge {
  readonly kind: 'page' | 'reusable-content';
  /** Page or reusable content. */
  readonly id: string;
  readonly base?: string;
  readonly ours: string;
  readonly theirs: string;
}

/** The body that a page gets, by id of the page or reusable content. */
export interface MergedDocument {
  readonly documentId: string;
  /** Keys of blocks that both sides changed. */
  readonly conflicts: readonly string[];
}

export interface MergeInput {
  /** The last revision that both sides share. */
  readonly base: RevisionTree;
  /** The primary content. */
  readonly ours: RevisionTree;
  /** The branch. Where both changed the same thing it wins, and the conflict is reported. */
  readonly theirs: RevisionTree;
  readonly documents?: ReadonlyMap<string, MergedDocument>;
}

export interface MergeResult {
  readonly tree: RevisionTree;
  /** From `ours` to `tree`. */
  readonly changes: readonly RevisionChange[];
  readonly conflicts: readonly TreeConflict[];
}
