export { diffTrees } from './diff-trees.ts';
export { sameContent } from './equal.ts';
export { documentsToMerge, mergeTrees } from './merge-trees.ts';
export type { DocumentsToMerge, MergedDocument, MergeInput, MergeResult, TreeConflict } from './merge-types.ts';
export type {
  FileNode,
  PageMetadata,
  PageNode,
  PurgedContent,
  ReusableContentNode,
  RevisionChange,
  RevisionInfo,
  RevisionReader,
  RevisionType,
  StoredDocument,
  Tree,
} from './model.ts';
export { purgedRevision } from './model.ts';
export { type ContentRows, purgeBatches } from './purge-batches.ts';
export {
  documentsCollection,
  revisionPartsCollection,
  revisionsCollection,
  snapshotsCollection,
} from './read-models/collections.ts';
export {
  documentsProjection,
  purgedBy,
  type RevisionPiece,
  type RevisionSource,
  revisionsProjection,
} from './read-models/revisions.ts';
export { createRevisionReader, createTreeCache, type RevisionStore, type TreeCache } from './reader.ts';
export { type RevisionPart, splitRevision } from './split-revision.ts';
export { emptyTree, RevisionTree } from './tree.ts';
export { applyChanges, TreeDraft } from './tree-draft.ts';
export { uniqueSlug } from './unique-slug.ts';
