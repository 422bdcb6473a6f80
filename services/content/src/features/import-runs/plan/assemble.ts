import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ContentRef, type JSONDocument, limits } from '@bindery/contracts';
import { type LinkContext, mapReferences, parseMarkdown, splitAnchor } from '@bindery/documents';
import { fieldsOf } from '../../change-requests/index.ts';
import {
  type FileNode,
  type PageMetadata,
  type PageNode,
  type RevisionChange,
  type RevisionTree,
  type StoredDocument,
  TreeDraft,
  uniqueSlug,
} from '../../revisions/index.ts';
import type { ImportedPage, ImportItem } from '../events.ts';
import { asGiven, localTarget } from '../source/local.ts';
import { canonicalUrl, keyOfUrl } from '../source/scope.ts';
import type { StagedPage } from '../source/staging.ts';
import type { KnownImportRun } from '../state.ts';
import { ImportFailed } from '../work-context.ts';
import { type OutlinePage, outlineOfFiles, outlineOfSite } from './outline.ts';

export interface AssembleInput {
  readonly run: KnownImportRun;
  readonly tree: RevisionTree;
  readonly staged: (blob: string) => Promise<StagedPage>;
  /** The same id for the same name on every attempt. */
  readonly derivedId: (name: string) => string;
  readonly now: string;
  readonly signal: AbortSignal;
}

/** What an import puts into the content. */
export interface Assembled {
  readonly changes: readonly RevisionChange[];
  readonly documents: readonly StoredDocument[];
  readonly pages: readonly ImportedPage[];
  /** Pages that were read and are no pages all the same. */
  readonly problems: readonly { readonly address: string; readonly reason: string }[];
}

const none: JSONDocument = { object: 'document', data: { schemaVersion: 1 }, nodes: [] };

/** What addresses on the imported pages lead to. */
interface Targets {
  page(from: string, href: string): { readonly item: ImportItem; readonly anchor?: string } | undefined;
  file(from: string, href: string): FileNode | undefined;
}

const fileAt = (run: KnownImportRun, address: string | undefined): FileNode | undefined =>
  address === undefined ? undefined : run.files.get(address)?.file;

const targetsOfSite = (run: KnownImportRun, items: readonly ImportItem[]): Targets => {
  const byKey = new Map<string, ImportItem>();
  for (const item of items)
    for (const address of [item.address, ...(run.settled.get(item.id)?.aliases ?? [])])
      if (!byKey.has(keyOfUrl(address))) byKey.set(keyOfUrl(address), item);
  // Second addresses lead to what they are second addresses of.
  for (const { id, outcome, aliases = [] } of run.settled.values()) {
    const other = outcome === 'same' ? aliases.map((it) => byKey.get(keyOfUrl(it))).find((it) => it) : undefined;
    const address = run.items.get(id)?.address;
    if (other !== undefined && address !== undefined) byKey.set(keyOfUrl(address), other);
  }
  return {
    page(_from, href) {
      const { path, anchor } = splitAnchor(href);
      const address = canonicalUrl(path);
      const item = address === undefined ? undefined : byKey.get(keyOfUrl(address));
      return item && { item, ...(anchor ? { anchor } : {}) };
    },
    file: (_from, href) => fileAt(run, href),
  };
};

const targetsOfFiles = (run: KnownImportRun, items: readonly ImportItem[]): Targets => {
  const byPath = new Map(items.map((item) => [item.address, item] as const));
  return {
    page(from, href) {
      const target = localTarget(from, href);
      if (target === undefined) return undefined;
      const { path, anchor } = target;
      const candidates = [path, `${path}.md`, `${path}/README.md`, `${path}.html`, `${path}/index.html`];
      const item = candidates.map((it) => byPath.get(it)).find((it) => it !== undefined);
      return item && { item, ...(anchor === undefined ? {} : { anchor }) };
    },
    file: (from, href) => fileAt(run, localTarget(from, href)?.path),
  };
};

/** Puts together what an import has read, below the page that it goes to. @throws ImportFailed */
export const assemble = async (input: AssembleInput): Promise<Assembled> => {
  const { run, tree, derivedId, now, signal } = input;
  const { source, pageId = null } = run.request;
  const under = pageId === null ? undefined : tree.page(pageId);
  if (pageId !== null && (under === undefined || under.type === 'link'))
    throw new ImportFailed('no_page', 'The page below which it was to come is not there any more.');
  const items = [...run.items.values()].filter(({ id }) => run.settled.get(id)?.outcome === 'read');
  const staged = (item: ImportItem): Promise<StagedPage> => input.staged(run.settled.get(item.id)?.blob ?? '');
  const isSite = source.type === 'website';
  const outline: readonly OutlinePage[] = isSite
    ? outlineOfSite(items, derivedId)
    : await outlineOfFiles(items, derivedId, staged);
  const targets = isSite ? targetsOfSite(run, items) : targetsOfFiles(run, items);
  const imported = new Set(outline.map(({ id }) => id));

  const draft = new TreeDraft(tree);
  const changes: RevisionChange[] = [];
  const documents: StoredDocument[] = [];
  const pages: ImportedPage[] = [];
  const problems: { address: string; reason: string }[] = [];
  const files = new Map<string, FileNode>();
  const anchors = new Map<string, StagedPage['anchors']>();
  for (const item of items) anchors.set(item.id, (await staged(item)).anchors);

  const referenceOf = (from: ImportItem, href: string, context: LinkContext): ContentRef | undefined => {
    if (href.startsWith('#')) return undefined;
    const file = context === 'page' ? undefined : targets.file(from.address, href);
    if (file !== undefined) {
      files.set(file.id, file);
      return { kind: 'file', file: file.id };
    }
    const target = targets.page(from.address, href);
    if (target === undefined || !imported.has(target.item.id))
      return href === asGiven(href) ? undefined : { kind: 'url', url: asGiven(href) };
    const page = target.item.id;
    if (target.anchor === undefined) return { kind: 'page', page };
    return { kind: 'anchor', anchor: anchors.get(page)?.[target.anchor] ?? target.anchor, page };
  };

  const textOf = async (item: ImportItem) => {
    const page = await staged(item);
    const whole = page.whole === true;
    const parsed = parseMarkdown(page.markdown, { title: whole, frontMatter: whole });
    const document = mapReferences(parsed.document, (ref, context) =>
      ref.kind === 'url' ? (referenceOf(item, ref.url, context) ?? ref) : ref,
    );
    const { title: named, ...fields } = whole ? fieldsOf(parsed.frontMatter) : { title: undefined };
    const { description } = page;
    return {
      title: (whole ? (parsed.title ?? named) : page.title)?.trim().slice(0, limits.page_.title),
      fields: {
        ...(description === undefined ? {} : { description: description.slice(0, limits.page_.description) }),
        ...fields,
      },
      document,
    };
  };

  const put = (page: PageNode): void => {
    const { slug } = page.metadata;
    const taken = (wanted: string): boolean => draft.bySlug(page.parent, wanted) !== undefined;
    const named =
      page.type === 'link' ? page : { ...page, metadata: { ...page.metadata, slug: uniqueSlug(slug, taken) } };
    const change: RevisionChange = { kind: 'page_inserted', page: { ...named, createdAt: now }, before: null };
    changes.push(change);
    draft.apply(change);
  };

  for (const page of outline) {
    signal.throwIfAborted();
    await nextTurn();
    const { id, label, slug, item } = page;
    const parent = page.parent ?? pageId;
    if (page.kind === 'link') {
      const target: ContentRef =
        page.target !== undefined && 'id' in page.target
          ? { kind: 'page', page: page.target.id }
          : { kind: 'url', url: page.target?.url ?? '' };
      put({ id, type: 'link', parent, metadata: { title: label.slice(0, limits.page_.title), slug: '' }, target });
      continue;
    }
    // Groups stand at the top alone; elsewhere they are pages without text.
    const type = page.kind === 'group' && parent === null ? ('group' as const) : ('document' as const);
    let metadata: PageMetadata = { title: label.slice(0, limits.page_.title), slug };
    if (type === 'group') {
      put({ id, type, parent, metadata });
      pages.push({ id, type: 'folder' });
      continue;
    }
    let document = none;
    if (item !== undefined) {
      const text = await textOf(item);
      metadata = {
        ...metadata,
        ...text.fields,
        ...(text.title ? { title: text.title } : {}),
        ...(page.hidden ? { hidden: true } : {}),
      };
      document = text.document;
      if (JSON.stringify(document).length > limits.document.maxLength) {
        problems.push({ address: item.address, reason: 'is larger as a document than a page may be' });
        document = none;
      }
    }
    const documentId = derivedId(`document ${id}`);
    documents.push({ id: documentId, document });
    put({ id, type, parent, metadata, documentId });
    pages.push({ id, type: item === undefined ? 'folder' : 'page' });
  }
  if (pages.length === 0) throw new ImportFailed('nothing', 'There are no pages to import.');
  const puts = [...files.values()].map((file): RevisionChange => ({ kind: 'file_put', file }));
  return { changes: [...puts, ...changes], documents, pages, problems };
};
