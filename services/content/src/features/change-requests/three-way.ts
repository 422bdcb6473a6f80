import type { JSONDocument } from '@bindery/contracts';
import { mergeDocuments } from '@bindery/documents';
import {
  type DocumentsToMerge,
  documentsToMerge,
  type MergedDocument,
  type MergeResult,
  mergeTrees,
  type RevisionStore,
  type StoredDocument,
} from '../revisions/index.ts';

/** Three revisions of one space. */
export interface ThreeRevisions {
  readonly spaceId: string;
  /** Whose branch it is. */
  readonly changeRequestId: string;
  /** The primary revision that both sides come from. */
  readonly base: string;
  readonly primary: string;
  readonly branch: string;
}

export interface ThreeWayResult extends MergeResult {
  /** Bodies that neither side had. */
  readonly documents: readonly StoredDocument[];
}

const empty: JSONDocument = { object: 'document', data: { schemaVersion: 1 }, nodes: [] };
/** Bodies read at a time: three versions each. */
const batchSize = 300;

/**
 * Merges a branch with the primary content: pages by `mergeTrees`, bodies that both changed block by block.
 * @param newId makes ids of new bodies
 */
export const mergeRevisions = async (
  reader: RevisionStore,
  revisions: ThreeRevisions,
  newId: () => string,
): Promise<ThreeWayResult> => {
  const { spaceId, changeRequestId } = revisions;
  const appended = { changeRequestId };
  const [base, ours, theirs] = await Promise.all([
    reader.tree(spaceId, revisions.base, appended),
    revisions.primary === revisions.base ? undefined : reader.tree(spaceId, revisions.primary, appended),
    reader.tree(spaceId, revisions.branch, appended),
  ]);
  const trees = { base, ours: ours ?? base, theirs };
  const merged = new Map<string, MergedDocument>();
  const documents: StoredDocument[] = [];
  if (trees.ours !== trees.base) {
    const wanted = documentsToMerge(trees);
    for (let start = 0; start < wanted.length; start += batchSize) {
      const batch = wanted.slice(start, start + batchSize);
      const ids = batch.flatMap((it) => (it.base === undefined ? [it.ours, it.theirs] : [it.base, it.ours, it.theirs]));
      const bodies = await reader.bodies(spaceId, ids, appended);
      for (const it of batch) {
        const result = mergeBody(it, bodies, newId);
        merged.set(it.id, result.merged);
        if (result.stored !== undefined) documents.push(result.stored);
      }
    }
  }
  return { ...mergeTrees({ ...trees, documents: merged }), documents };
};

const mergeBody = (
  it: DocumentsToMerge,
  bodies: ReadonlyMap<string, JSONDocument>,
  newId: () => string,
): { readonly merged: MergedDocument; readonly stored?: StoredDocument } => {
  const body = (id: string | undefined): JSONDocument => (id === undefined ? undefined : bodies.get(id)) ?? empty;
  const [base, ours, theirs] = [body(it.base), body(it.ours), body(it.theirs)];
  const { document, conflicts } = mergeDocuments({ base, ours, theirs });
  // What is one side's body already needs no other.
  if (document === ours || document === theirs)
    return { merged: { documentId: document === ours ? it.ours : it.theirs, conflicts: [] } };
  const stored = { id: newId(), document };
  const blocks = conflicts.flatMap((conflict) => [...conflict.ours, ...conflict.theirs]);
  const keys = new Set(blocks.flatMap((block) => (block.key === undefined ? [] : [block.key])));
  // A conflict without keyed blocks is one all the same.
  const names = keys.size > 0 || conflicts.length === 0 ? [...keys] : [''];
  return { merged: { documentId: stored.id, conflicts: names }, stored };
};
