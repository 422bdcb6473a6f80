import type { JSONDocument } from '@bindery/contracts';
import type { LiveCollection } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import { notFound } from '@bindery/service-kit';
import type { RevisionInfo, RevisionReader } from './model.ts';
import { documentsCollection, revisionsCollection } from './read-models/collections.ts';
import { documentKey } from './read-models/revisions.ts';
import { loadStoredTree, type RevisionDocument, type TextDocument } from './read-models/stored-tree.ts';
import type { RevisionTree } from './tree.ts';
import { WeightedLru } from './weighted-lru.ts';

/** Trees in memory, by revision. Shared between the reader and the projection that stores whole trees. */
export interface TreeCache {
  get(revisionId: string): { readonly spaceId: string; readonly tree: RevisionTree } | undefined;
  set(spaceId: string, revisionId: string, tree: RevisionTree): void;
}

/** Sum of pages of all trees in memory. They share most of what they hold, so this is far from what they take. */
const maxCachedPages = 400_000;
/** Characters of JSON of all bodies in memory. */
const maxCachedCharacters = 32_000_000;
const maxCachedInfos = 5_000;
/** Ids in one look-up (read store port). */
const batchSize = 1000;

export const createTreeCache = (maxPages = maxCachedPages): TreeCache => {
  const trees = new WeightedLru<{ readonly spaceId: string; readonly tree: RevisionTree }>(maxPages);
  return {
    get: (revisionId) => trees.get(revisionId),
    set: (spaceId, revisionId, tree) => trees.set(revisionId, { spaceId, tree }, tree.pageCount + 100),
  };
};

/** The reader of this service: trees are of the kind that can be merged, and new ones can be put in ahead of the store. */
export interface RevisionStore extends RevisionReader {
  /**
   * @param changeRequestId whose branch the revision is on; lets a revision be found that was appended (here or in another
   * process) and not yet written to the read store
   */
  tree(spaceId: string, revisionId: string, changeRequestId?: string): Promise<RevisionTree>;
  /** Keeps a tree that was just made, so that the next reader need not put it together. */
  remember(spaceId: string, revisionId: string, tree: RevisionTree): void;
}

export const createRevisionReader = (deps: {
  readonly live: LiveCollection;
  readonly trees: TreeCache;
  /** Brings the documents of the streams of a space, and of a change request, up to their ends. */
  readonly repair?: (spaceId: string, changeRequestId: string | undefined) => Promise<void>;
}): RevisionStore => {
  const { live, trees, repair } = deps;
  const infos = new WeightedLru<RevisionInfo>(maxCachedInfos);
  const bodies = new WeightedLru<JSONDocument>(maxCachedCharacters);
  const loading = new Map<string, Promise<RevisionTree>>();

  const getMany = async <T>(collection: CollectionSpec, ids: readonly string[]): Promise<ReadonlyMap<string, T>> => {
    const found = new Map<string, T>();
    for (let start = 0; start < ids.length; start += batchSize) {
      const batch = await live<T>(collection).getMany(ids.slice(start, start + batchSize));
      for (const [id, { document }] of batch) found.set(id, document);
    }
    return found;
  };
  const stored = async (spaceId: string, revisionId: string): Promise<RevisionDocument | undefined> => {
    const found = (await live<RevisionDocument>(revisionsCollection).get(revisionId))?.document;
    if (found === undefined || found.spaceId !== spaceId) return undefined;
    const { changes: _c, parts: _p, pages: _n, chain: _s, ...info } = found;
    infos.set(revisionId, info, 1);
    return found;
  };
  const load = async (spaceId: string, revisionId: string, changeRequestId?: string): Promise<RevisionTree> => {
    let document = await stored(spaceId, revisionId);
    if (document === undefined && repair !== undefined) {
      await repair(spaceId, changeRequestId);
      document = await stored(spaceId, revisionId);
    }
    if (document === undefined) throw notFound('revision');
    const cached = (id: string) => trees.get(id)?.tree;
    const tree = await loadStoredTree(document, { getMany, cached });
    trees.set(spaceId, revisionId, tree);
    return tree;
  };

  return {
    async info(spaceId, revisionId) {
      const known = infos.get(revisionId);
      if (known !== undefined) return known.spaceId === spaceId ? known : undefined;
      return (await stored(spaceId, revisionId)) && infos.get(revisionId);
    },
    async tree(spaceId, revisionId, changeRequestId) {
      const known = trees.get(revisionId);
      if (known !== undefined) {
        if (known.spaceId !== spaceId) throw notFound('revision');
        return known.tree;
      }
      const key = documentKey(spaceId, revisionId);
      const underway = loading.get(key);
      if (underway !== undefined) return underway;
      const started = load(spaceId, revisionId, changeRequestId).finally(() => loading.delete(key));
      loading.set(key, started);
      return started;
    },
    remember: (spaceId, revisionId, tree) => trees.set(spaceId, revisionId, tree),
    async documents(spaceId, documentIds) {
      const found = new Map<string, JSONDocument>();
      const missing: string[] = [];
      for (const id of new Set(documentIds)) {
        const body = bodies.get(documentKey(spaceId, id));
        if (body === undefined) missing.push(id);
        else found.set(id, body);
      }
      if (missing.length === 0) return found;
      const loaded = await getMany<TextDocument>(
        documentsCollection,
        missing.map((id) => documentKey(spaceId, id)),
      );
      for (const id of missing) {
        const text = loaded.get(documentKey(spaceId, id))?.json;
        if (text === undefined) continue;
        const body: JSONDocument = JSON.parse(text);
        bodies.set(documentKey(spaceId, id), body, text.length);
        found.set(id, body);
      }
      return found;
    },
  };
};
