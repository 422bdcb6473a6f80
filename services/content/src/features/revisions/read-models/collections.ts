import type { CollectionSpec } from '@bindery/read-store';

/** One document per revision of a space or branch, by id. */
export const revisionsCollection: CollectionSpec = {
  name: 'content.revisions',
  version: 1,
  indexes: [{ name: 'by_space', fields: ['spaceId', 'createdAt'] }],
};
/** Earlier pieces of large revisions, `<revision>:<n>`. */
export const revisionPartsCollection: CollectionSpec = { name: 'content.revision_parts', version: 1, indexes: [] };
/** Whole trees in pieces, `<revision>:<n>`; a cache that could be dropped (PITFALLS 38). */
export const snapshotsCollection: CollectionSpec = { name: 'content.revision_snapshots', version: 1, indexes: [] };
/** Bodies of pages and reusable contents, `<space>:<document>`, as text; written once. */
export const documentsCollection: CollectionSpec = { name: 'content.documents', version: 1, indexes: [] };
