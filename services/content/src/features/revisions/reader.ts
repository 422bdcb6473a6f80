import { setTimeout as wait } from 'node:timers/promises';
import type { JSONDocument } from '@bindery/contracts';
import type { LiveCollection } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import { isProblem, notFound } from '@bindery/service-kit';
import type { RevisionInfo, RevisionReader } from './model.ts';
import { documentsCollection, revisionsCollection } from './read-models/collections.ts';
import { documentKey } from './read-models/revisions.ts';
import { incomplete, loadStoredTree, type RevisionDocument, type TextDocument } from './read-models/stored-tree.ts';
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
/** How long an appended revision is waited for. */
const patienceMs = 2_000;
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
   * @param appended given when the caller knows from a stream that the revision was appended, with the change request on
   * whose branch it may be: what is not in the read store yet (another process wrote it a moment ago, or one died before
   * it could) is then repaired and waited for, up to 2 s
   * @throws Problem not-found; unavailable when an appended one has not arrived in time
   */
  tree(spaceId: string, revisionId: string, appended?: { readonly changeRequestId: string }): Promise<RevisionTree>;
  /**
   * As `documents`, for bodies that appended revisions name: waits for those that are not in the read store yet. What is
   * merged or edited must never be taken for empty because it cannot be read.
   * @throws Problem unavailable when one has not arrived in time
   */
  bodies(
    spaceId: string,
    documentIds: readonly string[],
    appended: { readonly changeRequestId: string },
  ): Promise<ReadonlyMap<string, JSONDocument>>;
  /** Keeps a tree that was just made, so that the next reader need not put it together. */
  remember(spaceId: string, revisionId: string, tree: RevisionTree): void;
}

export const createRevisionReader = (deps: {
  readonly live: LiveCollection;
  readonly trees: TreeCache;
  /** Brings the documents of the streams of a space, and of a change request, up to their ends. */
  readonly repair?: (spaceId: string, changeRequestId: string) => Promise<void>;
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
  const load = async (spaceId: string, revisionId: string): Promise<RevisionTree> => {
    const document = await stored(spaceId, revisionId);
    if (document === undefined) throw notFound('revision');
    const cached = (id: string) => trees.get(id)?.tree;
    const tree = await loadStoredTree(document, { getMany, cached });
    trees.set(spaceId, revisionId, tree);
    return tree;
  };
  const once = (spaceId: string, revisionId: string): Promise<RevisionTree> => {
    const key = documentKey(spaceId, revisionId);
    const underway = loading.get(key);
    if (underway !== undefined) return underway;
    const started = load(spaceId, revisionId).finally(() => loading.delete(key));
    loading.set(key, started);
    return started;
  };
  /** Tries again until it is there. @param attempt gives undefined, or refuses as not found, while it is not */
  const patiently = async <T>(
    attempt: () => Promise<T | undefined>,
    missing: string,
    repairing: () => Promise<void> | undefined,
  ): Promise<T> => {
    const until = performance.now() + patienceMs;
    for (let pauseMs = 0; ; pauseMs = Math.min(100, pauseMs + 10)) {
      try {
        const found = await attempt();
        if (found !== undefined) return found;
      } catch (error) {
        if (!isProblem(error) || (error.kind !== 'not-found' && error.code !== 'revision.incomplete')) throw error;
      }
      if (performance.now() >= until) throw incomplete(missing);
      if (pauseMs === 0) await repairing();
      else await wait(pauseMs);
    }
  };
  const documents = async (spaceId: string, documentIds: readonly string[]): Promise<Map<string, JSONDocument>> => {
    const found = new Map<string, JSONDocument>();
    const missing: string[] = [];
    for (const id of new Set(documentIds)) {
      const body = bodies.get(documentKey(spaceId, id));
      if (body === undefined) missing.push(id);
      else found.set(id, body);
    }
    if (missing.length === 0) return found;
    const keys = missing.map((id) => documentKey(spaceId, id));
    const loaded = await getMany<TextDocument>(documentsCollection, keys);
    for (const id of missing) {
      const text = loaded.get(documentKey(spaceId, id))?.json;
      if (text === undefined) continue;
      const body: JSONDocument = JSON.parse(text);
      bodies.set(documentKey(spaceId, id), body, text.length);
      found.set(id, body);
    }
    return found;
  };

  return {
    async info(spaceId, revisionId) {
      const known = infos.get(revisionId);
      if (known !== undefined) return known.spaceId === spaceId ? known : undefined;
      return (await stored(spaceId, revisionId)) && infos.get(revisionId);
    },
    async tree(spaceId, revisionId, appended) {
      const known = trees.get(revisionId);
      if (known !== undefined) {
        if (known.spaceId !== spaceId) throw notFound('revision');
        return known.tree;
      }
      if (appended === undefined) return once(spaceId, revisionId);
      return patiently(
        () => once(spaceId, revisionId),
        revisionId,
        () => repair?.(spaceId, appended.changeRequestId),
      );
    },
    documents,
    async bodies(spaceId, documentIds, { changeRequestId }) {
      const complete = async () => {
        const found = await documents(spaceId, documentIds);
        return documentIds.every((id) => found.has(id)) ? found : undefined;
      };
      return patiently(complete, documentIds.join(' ').slice(0, 200), () => repair?.(spaceId, changeRequestId));
    },
    remember: (spaceId, revisionId, tree) => trees.set(spaceId, revisionId, tree),
  };
};
