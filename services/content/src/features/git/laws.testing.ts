import { createHash } from 'node:crypto';
import type { BlobStore } from '@bindery/blob-store';
import type { JSONDocument } from '@bindery/contracts';
import { blobOid, type Repository } from '@bindery/git-sync';
import { createIdSource } from '@bindery/service-kit';
import { emptyTree, type RevisionTree } from '../revisions/index.ts';
import type { KnownPlaces } from './places.ts';
import { planExport } from './plan-export.ts';
import { planImport } from './plan-import.ts';

/** Files of a repository by path. */
export type Files = ReadonlyMap<string, Uint8Array>;

/** A commit of these files, without a server. */
export const repositoryOf = (files: Files): Repository => {
  const byOid = new Map([...files].map(([path, bytes]) => [blobOid(bytes), { path, bytes }]));
  return {
    files: new Map([...files].map(([path, bytes]) => [path, blobOid(bytes)])),
    others: new Set(),
    commit: { oid: 'c'.repeat(40), message: 'Test', committedAt: '2026-01-01T00:00:00.000Z' },
    async read(oid) {
      const found = byOid.get(oid);
      if (found === undefined) throw new Error(`no object ${oid}`);
      return found.bytes;
    },
    push: async () => undefined,
  };
};

/** Blobs in memory. */
const createBlobs = (): BlobStore => {
  const kept = new Map<string, Uint8Array>();
  return {
    async put(source) {
      if (!(source instanceof Uint8Array)) throw new Error('bytes only');
      const sha256 = createHash('sha256').update(source).digest('hex');
      kept.set(sha256, source);
      return { sha256, size: source.byteLength };
    },
    async get(sha256) {
      const bytes = kept.get(sha256);
      if (bytes === undefined) return undefined;
      return {
        size: bytes.byteLength,
        body: (async function* () {
          yield bytes;
        })(),
      };
    },
    stat: async () => undefined,
    delete: async () => false,
    close: async () => undefined,
  };
};

/** A space without a service: what imports and exports of it come to. */
export const createBareSpace = (spaceId: string) => {
  const blobs = createBlobs();
  const bodies = new Map<string, JSONDocument>();
  const ids = createIdSource();
  const baseUrl = 'https://docs.example.org';
  const documents = async (wanted: readonly string[]) => new Map([...bodies].filter(([id]) => wanted.includes(id)));
  let tree: RevisionTree = emptyTree;
  let places: KnownPlaces = new Map();
  let syncs = 0;
  return {
    bodies,
    get tree() {
      return tree;
    },
    set tree(next: RevisionTree) {
      tree = next;
    },
    async import(files: Files): Promise<RevisionTree> {
      const imported = await planImport({
        repository: repositoryOf(files),
        directory: '',
        spaceId,
        baseUrl,
        base: tree,
        since: String(syncs),
        places,
        documents,
        blobs,
        newId: () => ids.id(),
        now: '2026-01-01T00:00:00.000Z',
        signal: new AbortController().signal,
      });
      for (const { id, document } of imported.documents) bodies.set(id, document);
      ({ tree, places } = imported);
      syncs += 1;
      return tree;
    },
    async export(files: Files = new Map()): Promise<Map<string, Uint8Array>> {
      const exported = await planExport({
        repository: repositoryOf(files),
        directory: '',
        spaceId,
        baseUrl,
        tree,
        places,
        ours: files.size > 0,
        force: false,
        documents,
        blobs,
        signal: new AbortController().signal,
      });
      const after = new Map(files);
      for (const [path, bytes] of exported.changes) {
        if (bytes === null) after.delete(path);
        else after.set(path, bytes);
      }
      places = exported.places;
      return after;
    },
  };
};
