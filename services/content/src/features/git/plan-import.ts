import { posix } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { BlobStore } from '@bindery/blob-store';
import { type ContentRef, type JSONDocument, limits } from '@bindery/contracts';
import { carryKeys, extractReferences } from '@bindery/documents';
import {
  configFile,
  fileFailed,
  GitSyncFailed,
  includesFolder,
  type LinkIndex,
  type PlannedPage,
  plainTitle,
  planStructure,
  type Repository,
  type RepositoryConfig,
  readConfig,
} from '@bindery/git-sync';
import {
  emptyTree,
  type PageMetadata,
  type PageNode,
  type RevisionTree,
  type StoredDocument,
  sameContent,
  TreeDraft,
  uniqueSlug,
} from '../revisions/index.ts';
import type { GitPlace } from './events.ts';
import { createIds, identify } from './identity.ts';
import { createTakenFiles, ingestFile } from './import-files.ts';
import {
  type CodecScope,
  indexOf,
  readContent,
  readPage,
  referenceReader,
  textOfFile,
  writePage,
} from './page-codec.ts';
import { type KnownPlaces, placesOfKind, summaryId } from './places.ts';

export interface ImportInput {
  readonly repository: Repository;
  /** Folder of the project. */
  readonly directory: string;
  readonly spaceId: string;
  readonly baseUrl: string;
  /** What the repository said at the last sync; empty before the first. */
  readonly base: RevisionTree;
  /** Names the last sync. */
  readonly since: string;
  readonly places: KnownPlaces;
  readonly documents: (ids: readonly string[]) => Promise<ReadonlyMap<string, JSONDocument>>;
  readonly blobs: BlobStore;
  readonly newId: () => string;
  readonly now: string;
  readonly signal: AbortSignal;
}

/** The content of a commit. */
export interface ImportedContent {
  readonly tree: RevisionTree;
  /** Bodies that were not there yet. */
  readonly documents: readonly StoredDocument[];
  readonly places: KnownPlaces;
}

/** Bodies read at a time. */
const batchSize = 100;

/** The files of the space by path from its root, and how it is configured. @throws GitSyncFailed */
export const filesOfSpace = async (
  repository: Repository,
  directory: string,
): Promise<{ readonly config: RepositoryConfig; readonly files: ReadonlyMap<string, string> }> => {
  const path = posix.join(directory, configFile);
  const oid = repository.files.get(path);
  const text = oid === undefined ? undefined : textOfFile(path, await repository.read(oid));
  const config = readConfig(directory, text);
  const prefix = config.root === '' ? '' : `${config.root}/`;
  const files = new Map<string, string>();
  for (const [file, blob] of repository.files) if (file.startsWith(prefix)) files.set(file.slice(prefix.length), blob);
  return { config, files };
};

/** What the table of contents calls a page, where that is not its title. */
const labelOf = (page: PlannedPage, title: string): string | undefined => {
  const label = page.linkTitle ?? (page.label === undefined || page.label === title ? undefined : page.label);
  return label?.slice(0, limits.page_.linkTitle);
};

const slugIn = (parent: string | null, slug: string): string => `${parent ?? ''}/${slug}`;

/** A page of the commit, in the place where it goes, with the times and slug that it has. */
const settled = (
  page: PageNode,
  previous: PageNode | undefined,
  draft: TreeDraft,
  reserved: ReadonlySet<string>,
  now: string,
): PageNode => {
  const { slug } = page.metadata;
  const isTaken = (wanted: string): boolean =>
    draft.bySlug(page.parent, wanted) !== undefined ||
    (previous === undefined && reserved.has(slugIn(page.parent, wanted)));
  const named =
    page.type === 'link' || !isTaken(slug)
      ? page
      : { ...page, metadata: { ...page.metadata, slug: uniqueSlug(slug, isTaken) } };
  if (previous === undefined) return { ...named, createdAt: now };
  const { createdAt, updatedAt } = previous;
  const times = { ...(createdAt ? { createdAt } : {}), ...(updatedAt ? { updatedAt } : {}) };
  return sameContent(previous, named) ? { ...named, ...times } : { ...named, ...times, updatedAt: now };
};

/**
 * Reads a commit as the tree that it says, with the ids that its parts had at the last sync.
 * @throws GitSyncFailed, naming the file that cannot be read
 */
export const planImport = async (input: ImportInput): Promise<ImportedContent> => {
  const { repository, spaceId, baseUrl, base, places, now, signal } = input;
  const { config, files } = await filesOfSpace(repository, input.directory);
  const read = async (path: string): Promise<string> => {
    const oid = files.get(path);
    if (oid === undefined) throw fileFailed(path, 'is not there');
    return textOfFile(path, await repository.read(oid));
  };
  const summary = files.has(config.summary) ? await read(config.summary) : undefined;
  const planned = await planStructure({ config, paths: files.keys(), summary, textOf: read });
  if (planned.length === 0)
    throw new GitSyncFailed(
      'unusable',
      `There are no markdown files in ${config.root === '' ? 'the repository' : config.root}.`,
    );

  const makeId = createIds(spaceId, input.since);
  const scope: CodecScope = { baseUrl, spaceId, tree: base };
  const before = placesOfKind(places);
  const beforeIndex = indexOf(before);
  const ids = await identify({
    planned,
    files,
    places,
    base,
    makeId,
    textOf: {
      async gone(pageId, path) {
        const page = base.page(pageId);
        if (page?.documentId === undefined) return undefined;
        const document = (await input.documents([page.documentId])).get(page.documentId);
        if (document === undefined) return undefined;
        const unlisted = places.get(pageId)?.unlisted === true;
        return writePage({ metadata: page.metadata, document, unlisted }, path, before, beforeIndex, scope);
      },
      added: read,
    },
  });
  const idOf = (key: string): string => {
    const id = ids.get(key);
    if (id === undefined) throw new Error('a page of the plan has no id');
    return id;
  };

  const pageIds = new Map<string, string>();
  for (const page of planned)
    if (page.kind === 'document' && page.path !== undefined) pageIds.set(page.path, idOf(page.key));
  const includeIds = new Map<string, string>();
  for (const path of [...files.keys()].sort())
    if (path.startsWith(`${includesFolder}/`) && /\.md$/i.test(path))
      includeIds.set(path, beforeIndex.include(path) ?? makeId('content', path));
  const taken = createTakenFiles({
    files,
    config,
    places,
    makeId,
    isPage: (path) => pageIds.has(path) || includeIds.has(path),
  });
  const index: LinkIndex = {
    page: (path) => pageIds.get(path) ?? (path === 'README.md' ? pageIds.get(config.readme) : undefined),
    include: (path) => includeIds.get(path),
    file: (path) => taken.of(path),
  };

  const documents: StoredDocument[] = [];
  const bodyOf = (
    documentId: string | undefined,
    previous: JSONDocument | undefined,
    document: JSONDocument,
  ): string => {
    const carried = previous === undefined ? document : carryKeys(previous, document);
    if (documentId !== undefined && isDeepStrictEqual(carried, previous)) return documentId;
    const id = input.newId();
    documents.push({ id, document: carried });
    return id;
  };
  const linksHold =
    pageIds.size === before.pages.size &&
    includeIds.size === before.contents.size &&
    [...pageIds].every(([path, id]) => before.pages.get(id) === path);
  /** Whether what a body refers to is still where it was; takes its files along. */
  const holds = (path: string, body: JSONDocument, metadata: PageMetadata): boolean => {
    const resolve = referenceReader(path, index, scope);
    const covers = Object.values(metadata.cover ?? {}) as Partial<ContentRef>[];
    const refs = [...extractReferences(body).map(({ ref }) => ref), ...covers];
    return refs.every((ref) => {
      if (ref.kind === 'url' && ref.url !== undefined) return resolve(ref.url, 'link') === undefined;
      if (ref.kind !== 'file' || ref.file === undefined) return true;
      const at = before.files.get(ref.file);
      return at === undefined || taken.of(at) === ref.file;
    });
  };

  const draft = new TreeDraft(emptyTree);
  if (Object.keys(base.variables).length > 0) draft.apply({ kind: 'variables_set', variables: base.variables });
  const next = new Map<string, GitPlace>();
  /** Slugs of pages that are there already: new ones make way for them. */
  const reserved = new Set(
    planned.flatMap(({ key, parent }) => {
      const slug = base.page(idOf(key))?.metadata.slug;
      return slug === undefined || slug === '' ? [] : [slugIn(parent === null ? null : idOf(parent), slug)];
    }),
  );
  const put = (page: PageNode, place: Omit<GitPlace, 'kind' | 'id'>): void => {
    draft.apply({ kind: 'page_inserted', page: settled(page, base.page(page.id), draft, reserved, now), before: null });
    next.set(page.id, { kind: 'page', id: page.id, ...place });
  };

  const addDocument = async (page: PlannedPage, bodies: ReadonlyMap<string, JSONDocument>): Promise<void> => {
    const id = idOf(page.key);
    const parent = page.parent === null ? null : idOf(page.parent);
    const previous = base.page(id);
    const body = previous?.documentId === undefined ? undefined : bodies.get(previous.documentId);
    const { path = '' } = page;
    const place = { path, oid: files.get(path) ?? '', ...(page.unlisted === true ? { unlisted: true as const } : {}) };
    const asBefore =
      linksHold &&
      previous !== undefined &&
      body !== undefined &&
      isDeepStrictEqual(places.get(id), { kind: 'page', id, ...place }) &&
      labelOf(page, previous.metadata.title) === previous.metadata.linkTitle &&
      holds(path, body, previous.metadata);
    if (asBefore) {
      put({ ...previous, parent }, place);
      return;
    }
    const content = readPage(
      path === '' ? '' : await read(path),
      path === '' ? (page.label ?? '') : path,
      index,
      scope,
    );
    const fallback = page.label ?? posix.basename(path).replace(/\.md$/i, '');
    const title = content.title ?? plainTitle(fallback).slice(0, limits.page_.title);
    const linkTitle = content.fields.linkTitle ?? labelOf(page, title);
    const metadata: PageMetadata = {
      ...content.fields,
      title,
      slug: previous?.metadata.slug ?? page.wantedSlug,
      ...(linkTitle === undefined ? {} : { linkTitle }),
      ...(page.unlisted === true ? { hidden: true } : {}),
    };
    const documentId = bodyOf(previous?.documentId, body, content.document);
    put({ id, type: 'document', parent, metadata, documentId }, place);
  };
  /** What a link of the table of contents leads to: a file by exactly its path, what is in the application, else an address. */
  const refOf = (url: string): ContentRef => {
    const file = taken.of(url);
    if (file !== undefined) return { kind: 'file', file };
    const isAbsolute = /^[a-z][a-z0-9+.-]*:/i.test(url);
    const inside = isAbsolute ? referenceReader(config.summary, index, scope)(url, 'link') : undefined;
    return inside ?? { kind: 'url', url };
  };
  const addOther = (page: PlannedPage): void => {
    const id = idOf(page.key);
    const parent = page.parent === null ? null : idOf(page.parent);
    const previous = base.page(id)?.metadata;
    const title = plainTitle(page.label ?? '').slice(0, limits.page_.title);
    const place = { path: '', oid: '' };
    if (page.kind === 'group') {
      put({ id, type: 'group', parent: null, metadata: { slug: page.wantedSlug, ...previous, title } }, place);
      return;
    }
    const { target = { url: '' } } = page;
    const listedPage = 'path' in target ? pageIds.get(target.path) : undefined;
    const url = 'url' in target ? target.url : '';
    const ref: ContentRef = listedPage === undefined ? refOf(url) : { kind: 'page', page: listedPage };
    const { linkTitle } = page;
    const metadata = { slug: '', ...previous, title, ...(linkTitle === undefined ? {} : { linkTitle }) };
    put({ id, type: 'link', parent, metadata, target: ref }, place);
  };

  for (let start = 0; start < planned.length; start += batchSize) {
    const batch = planned.slice(start, start + batchSize);
    const bodies = await input.documents(batch.flatMap(({ key }) => base.page(idOf(key))?.documentId ?? []));
    for (const page of batch) {
      signal.throwIfAborted();
      await nextTurn();
      if (page.kind === 'document') await addDocument(page, bodies);
      else addOther(page);
    }
  }
  for (const [path, id] of includeIds) {
    const previous = base.reusableContent(id);
    const known =
      previous?.documentId === undefined
        ? undefined
        : (await input.documents([previous.documentId])).get(previous.documentId);
    const { title, document } = readContent(await read(path), path, index, scope);
    const documentId = bodyOf(previous?.documentId, known, document);
    const named = title ?? plainTitle(posix.basename(path).replace(/\.md$/i, ''));
    draft.apply({
      kind: 'reusable_content_put',
      content: { id, title: named.slice(0, limits.reusableContent.title), documentId },
    });
    next.set(id, { kind: 'content', id, path, oid: files.get(path) ?? '' });
  }
  for (const [path, id] of taken.taken()) {
    signal.throwIfAborted();
    const oid = files.get(path) ?? '';
    const previous = base.file(id);
    const known = previous !== undefined && places.get(id)?.oid === oid;
    draft.apply({ kind: 'file_put', file: known ? previous : await ingestFile(input, { id, path, oid }) });
    next.set(id, { kind: 'file', id, path, oid });
  }
  const summaryOid = files.get(config.summary);
  if (summaryOid !== undefined)
    next.set(summaryId, { kind: 'summary', id: summaryId, path: config.summary, oid: summaryOid });
  return { tree: draft.done(), documents, places: next };
};
