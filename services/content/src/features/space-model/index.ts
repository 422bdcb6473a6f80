export {
  type CollectionDocument,
  type CollectionTreeDocument,
  collectionKey,
  collectionsSpec,
  collectionTreesSpec,
} from './collection-document.ts';
export { CollectionTree, topLevel } from './collection-tree.ts';
export { type SpaceDocument, spacesCollection } from './document.ts';
export {
  type GrantDocument,
  grantsSpec,
  type ResourceGrantsDocument,
  resourceGrantsSpec,
  subjectOf,
} from './grant-document.ts';
export { byOrder, maxOrderKeyLength, orderKeyAt, orderKeyBetween } from './order-key.ts';
