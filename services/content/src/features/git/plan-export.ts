import { posix } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BlobStore } from '@bindery/blob-store';
import type { JSONDocument } from '@bindery/contracts';
import {
  allocatePlaces,
  blobOid,
  configFile,
  fileFailed,
  GitSyncFailed,
  type PageToList,
  type Places,
  type Repository,
  type RepositoryChanges,
  writeSummary,
} from '@bindery/git-sync';
import { refWriter } from '../pages/index.ts';
import type { PageNode, RevisionTree } from '../revisions/index.ts';
import type { GitPlace } from './events.ts';
import { type CodecScope, indexOf, rewritten, textOfFile, writeContent, writePage } from './page-codec.ts';
import { type KnownPlaces, summaryId } from './places.ts';
import { filesOfSpace } from './plan-import.ts';

export interface ExportInput {
  readonly repository: Repository;
  readonly directory: string;
  readonly spaceId: string;
  readonly baseUrl: string;
  readonly tree: RevisionTree;
  readonly places: KnownPlaces;
  /** Whether the places are those of this repository: then what stands there is the space's own. */
  readonly ours: boolean;
  /** Write over what was changed there and not imported. */
  readonly force: boolean;
  readonly documents: (ids: readonly string[]) => Promise<ReadonlyMap<string, JSONDocument>>;
  readonly blobs: BlobStore;
  readonly signal: AbortSignal;
}

export interface ExportedContent {
  /** By path from the root of the repository. */
  readonly changes: RepositoryChanges;
  readonly places: KnownPlaces;
}

const batchSize = 100;
const emptyBody: JSONDocument = { object: 'document', data: { schemaVersion: 1 }, nodes: [] };
/** Files that are named in a refusal. */
const namedFiles = 5;

const bytesOf = async (blobs: BlobStore, sha256: string, path: string): Promise<Uint8Array> => {
  const blob = await blobs.get(sha256);
  if (blob === undefined) throw fileFailed(path, 'has no content any more');
  const chunks: Uint8Array[] = [];
  for await (const chunk of blob.body) chunks.push(chunk);
  return Buffer.concat(chunks);
};

/** Not listed at the last sync, and still a hidden page at the top with nothing below. */
const isUnlisted = (page: PageNode, tree: RevisionTree, places: KnownPlaces): boolean =>
  places.get(page.id)?.unlisted === true &&
  page.type === 'document' &&
  page.parent === null &&
  page.metadata.hidden === true &&
  tree.children(page.id).length === 0;

const allocate = (input: ExportInput, taken: Iterable<string>, readme: string): Places => {
  const { tree, places } = input;
  const pathOf = (id: string) => {
    const path = places.get(id)?.path;
    return path === undefined || path === '' ? {} : { path };
  };
  return allocatePlaces({
    pages: [...tree.walk()].map((page) => ({
      id: page.id,
      kind: page.type,
      parent: page.parent,
      slug: page.metadata.slug,
      hasChildren: tree.children(page.id).length > 0,
      ...(page.type === 'document' ? pathOf(page.id) : {}),
    })),
    files: [...tree.files()].map(({ id, name }) => ({ id, name, ...pathOf(id) })),
    contents: [...tree.reusableContents()].map(({ id, title }) => ({ id, title, ...pathOf(id) })),
    taken,
    readme,
  });
};

/**
 * Writes a revision as files of a repository, as changes to what is there: files that are not the space's stay as they are,
 * and so do the space's own where they say the same in other words.
 * @throws GitSyncFailed when files were changed in the repository and not imported
 */
export const planExport = async (input: ExportInput): Promise<ExportedContent> => {
  const { repository, tree, places, spaceId, baseUrl, signal } = input;
  const { config, files } = await filesOfSpace(repository, input.directory);
  const own = input.ours ? new Set([...places.values()].map(({ path }) => path)) : new Set<string>();
  const inRoot = (path: string): string => posix.join(config.root, path);
  const prefix = config.root === '' ? '' : `${config.root}/`;
  const foreign = [...files.keys()].filter((path) => !own.has(path));
  const others = [...repository.others].flatMap((path) => (path.startsWith(prefix) ? [path.slice(prefix.length)] : []));
  const allocated = allocate(input, [...foreign, ...others, config.summary, configFile], config.readme);
  const index = indexOf(allocated);
  const scope: CodecScope = { baseUrl, spaceId, tree };
  const changes = new Map<string, Uint8Array | null>();
  const next = new Map<string, GitPlace>();
  const overwritten: string[] = [];

  const write = (place: Omit<GitPlace, 'oid'>, bytes: Uint8Array): void => {
    const oid = blobOid(bytes);
    const there = files.get(place.path);
    const last = places.get(place.id);
    if (there !== oid) {
      // Changed, or taken away, by somebody since the last sync: it is not ours to undo.
      if (input.ours && last?.path === place.path && there !== last.oid) overwritten.push(place.path);
      changes.set(inRoot(place.path), bytes);
    }
    next.set(place.id, { ...place, oid });
  };
  /** The file as it is, where it says the same; else as it is written here. */
  const orAsItIs = async (path: string, text: string, again: (there: string) => string): Promise<Uint8Array> => {
    const bytes = Buffer.from(text);
    const oid = files.get(path);
    if (oid === undefined || oid === blobOid(bytes)) return bytes;
    const there = await repository.read(oid);
    try {
      return again(textOfFile(path, there)) === text ? there : bytes;
    } catch (error) {
      if (error instanceof GitSyncFailed) return bytes;
      throw error;
    }
  };

  const pages = [...tree.walk()];
  for (let start = 0; start < pages.length; start += batchSize) {
    const batch = pages.slice(start, start + batchSize);
    const bodies = await input.documents(batch.flatMap(({ documentId }) => documentId ?? []));
    for (const page of batch) {
      signal.throwIfAborted();
      await nextTurn();
      const path = allocated.pages.get(page.id);
      if (path === undefined) {
        next.set(page.id, { kind: 'page', id: page.id, path: '', oid: '' });
        continue;
      }
      const document = page.documentId === undefined ? emptyBody : bodies.get(page.documentId);
      if (document === undefined) throw new Error(`body ${page.documentId} is needed and was not loaded`);
      const unlisted = isUnlisted(page, tree, places);
      const said = { metadata: page.metadata, document, unlisted };
      const text = writePage(said, path, allocated, index, scope);
      const bytes = await orAsItIs(path, text, (there) => rewritten(there, path, said, allocated, index, scope));
      write({ kind: 'page', id: page.id, path, ...(unlisted ? { unlisted: true as const } : {}) }, bytes);
    }
  }
  for (const content of tree.reusableContents()) {
    const path = allocated.contents.get(content.id) ?? '';
    const body =
      content.documentId === undefined
        ? undefined
        : (await input.documents([content.documentId])).get(content.documentId);
    const text = writeContent({ title: content.title, document: body ?? emptyBody }, path, allocated, index, scope);
    write({ kind: 'content', id: content.id, path }, Buffer.from(text));
  }
  for (const file of tree.files()) {
    signal.throwIfAborted();
    const path = allocated.files.get(file.id) ?? '';
    const last = places.get(file.id);
    // Bytes that are there already need not be read again; what a file is never changes under its id.
    write({ kind: 'file', id: file.id, path }, await bytesOf(input.blobs, file.sha256, last?.path ?? path));
  }

  const summaryOid = files.get(config.summary);
  const existing = summaryOid === undefined ? undefined : textOfFile(config.summary, await repository.read(summaryOid));
  const summary = writeSummary(listed(input, allocated, null), existing);
  if (summary === existing && summaryOid !== undefined)
    next.set(summaryId, { kind: 'summary', id: summaryId, path: config.summary, oid: summaryOid });
  else write({ kind: 'summary', id: summaryId, path: config.summary }, Buffer.from(summary));
  const first = pages.find(({ type }) => type === 'document');
  const firstPath = first === undefined ? undefined : allocated.pages.get(first.id);
  const configPath = posix.join(input.directory, configFile);
  if (
    firstPath !== undefined &&
    firstPath !== config.readme &&
    files.has(config.readme) &&
    !own.has(config.readme) &&
    !repository.files.has(configPath)
  )
    changes.set(configPath, Buffer.from(`structure:\n  readme: ${JSON.stringify(firstPath)}\n  summary: SUMMARY.md\n`));

  const kept = new Set([...next.values()].map(({ path }) => path));
  if (input.ours) {
    for (const { path, oid } of places.values()) {
      if (path === '' || kept.has(path) || !files.has(path)) continue;
      if (files.get(path) !== oid) overwritten.push(path);
      changes.set(inRoot(path), null);
    }
  }
  if (overwritten.length > 0 && !input.force) {
    const more = overwritten.length > namedFiles ? ` and ${overwritten.length - namedFiles} more` : '';
    const names = `${overwritten.sort().slice(0, namedFiles).join(', ')}${more}`;
    throw new GitSyncFailed(
      'unimported',
      `Changed in the repository and not imported: ${names}. Import first, or export with force.`,
    );
  }
  return { changes, places: next };
};

/** The table of contents below a page. */
const listed = (input: ExportInput, allocated: Places, parent: string | null): PageToList[] => {
  const { tree, places, baseUrl, spaceId } = input;
  return tree.children(parent).flatMap((id): PageToList[] => {
    const page = tree.page(id);
    if (page === undefined || isUnlisted(page, tree, places)) return [];
    const { title, linkTitle } = page.metadata;
    const named = { id, kind: page.type, title, ...(linkTitle === undefined ? {} : { linkTitle }) };
    const children = listed(input, allocated, id);
    if (page.type === 'link') {
      const { target = { kind: 'url', url: '' } } = page;
      const path =
        target.kind === 'page'
          ? allocated.pages.get(target.page)
          : target.kind === 'file'
            ? allocated.files.get(target.file)
            : undefined;
      if (path !== undefined) return [{ ...named, path, children: [] }];
      const address = refWriter({ baseUrl, spaceId, tree, page, style: 'stable' })(target);
      // A link of its own needs an address that stands by itself.
      const url =
        target.kind === 'url' || /^[a-z][a-z0-9+.-]*:/i.test(address)
          ? address
          : `${baseUrl}/app/spaces/${spaceId}${address}`;
      // What is no address by itself stands there like a path, so that nothing of it is taken for an anchor.
      if (!/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(url)) return [{ ...named, path: url === '' ? '/' : url, children: [] }];
      return [{ ...named, url, children: [] }];
    }
    const path = allocated.pages.get(id);
    return [{ ...named, ...(path === undefined ? {} : { path }), children }];
  });
};
