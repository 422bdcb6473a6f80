import type { LiveCollection } from '@bindery/event-sourcing';
import type { Scalar } from '@bindery/read-store';
import type { CollectionSource } from '../../access/index.ts';
import {
  type CollectionDocument,
  CollectionTree,
  type CollectionTreeDocument,
  collectionKey,
  collectionsSpec,
  collectionTreesSpec,
} from '../../space-model/index.ts';

/** Trees kept at a time; each is some hundred kilobytes at most. */
const maxTrees = 200;
const pageSize = 1000;

export interface Collections extends CollectionSource {
  /** The trace of a collection that an organization had: deleted or sent elsewhere. */
  trace(organizationId: string, collectionId: string): Promise<CollectionDocument | undefined>;
}

/** Reads collections. A tree is read once for each revision of the organization's collections. */
export const createCollections = (live: LiveCollection): Collections => {
  const documents = live<CollectionDocument>(collectionsSpec);
  const revisions = live<CollectionTreeDocument>(collectionTreesSpec);
  const kept = new Map<string, { readonly revision: number; readonly tree: CollectionTree }>();

  const read = async (organizationId: string): Promise<CollectionTree> => {
    const found: CollectionDocument[] = [];
    for (let after: readonly Scalar[] | undefined; ; ) {
      const where = { organizationId, alive: true };
      const page = await documents.query({ where, limit: pageSize, ...(after ? { after } : {}) });
      found.push(...page.map(({ document }) => document));
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize) return new CollectionTree(organizationId, found);
      after = [last.id];
    }
  };

  return {
    async tree(organizationId) {
      const revision = (await revisions.get(organizationId))?.revision ?? -1;
      const known = kept.get(organizationId);
      if (known !== undefined && known.revision === revision) return known.tree;
      const tree = revision === -1 ? new CollectionTree(organizationId, []) : await read(organizationId);
      kept.delete(organizationId);
      const [oldest] = kept.keys();
      if (kept.size >= maxTrees && oldest !== undefined) kept.delete(oldest);
      kept.set(organizationId, { revision, tree });
      return tree;
    },
    async find(collectionId) {
      const found = await documents.query({ where: { id: collectionId, alive: true }, limit: 2 });
      // While it goes to another organization both have it; it is where it was until it is gone from there.
      return (found.find(({ document }) => document.status === 'leaving') ?? found[0])?.document;
    },
    async trace(organizationId, collectionId) {
      return (await documents.get(collectionKey(organizationId, collectionId)))?.document;
    },
  };
};
