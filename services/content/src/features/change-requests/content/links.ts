import type { ContentRef } from '@bindery/contracts';
import { type LinkContext, resolveRelativePath, splitAnchor } from '@bindery/documents';
import type { PageNode, RevisionTree } from '../../revisions/index.ts';

/** What addresses in the markdown of a batch can mean. */
export interface LinkTargets {
  readonly baseUrl: string;
  readonly spaceId: string;
  /** The revision as it will be. */
  readonly tree: RevisionTree;
  /** Page ids by the names that the batch gave them. */
  readonly pageRefs: ReadonlyMap<string, string>;
  readonly fileRefs: ReadonlyMap<string, string>;
}

/** Ids as we make them; what looks like one and is not there (yet) is a reference all the same, which can come right. */
const madeId = /^(?!\d+$)[A-Za-z0-9]{20,64}$/;

/**
 * Turns the addresses of a page's markdown into references; undefined leaves an address. Reads back everything that pages
 * are written with: stable forms (`/pages/<id>`, `/files/<id>`), relative and absolute paths of markdown files, addresses
 * in the application; and names of the same batch (`./<ref>.md`).
 * @param page the page in which the addresses stand
 */
export const linkResolver = (targets: LinkTargets, page: PageNode) => {
  const { tree } = targets;
  const path = tree.pathOf(page.id);
  const folder = `${path}/README.md`;
  const file = `${path}.md`;
  // A page with pages below it is the README of its folder; try the other reading second, for links written before that.
  const places = tree.children(page.id).length > 0 ? [folder, file] : [file, folder];

  return (href: string, context: LinkContext): ContentRef | undefined => {
    if (href === '') return undefined;
    if (href.startsWith('#')) return href.length > 1 ? { kind: 'anchor', anchor: href.slice(1) } : undefined;
    const { path: address, anchor } = splitAnchor(href);
    const toPage = (id: string, space?: string): ContentRef =>
      anchor === undefined || anchor === ''
        ? { kind: 'page', page: id, ...(space === undefined ? {} : { space }) }
        : { kind: 'anchor', anchor, page: id, ...(space === undefined ? {} : { space }) };
    if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(address)) return inApplication(address, targets, toPage);
    const named = byName(address, targets);
    if (named !== undefined) return 'file' in named ? { kind: 'file', file: named.file } : toPage(named.page);
    if (context !== 'image' && context !== 'file') {
      const found = byPath(address, tree, places);
      if (found !== undefined) return toPage(found);
    }
    return byStableForm(address, tree, toPage);
  };
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not percent-encoded: it means what it says.
    return text;
  }
};

const byName = (
  address: string,
  { pageRefs, fileRefs }: LinkTargets,
): { readonly page: string } | { readonly file: string } | undefined => {
  if (pageRefs.size === 0 && fileRefs.size === 0) return undefined;
  const name = decoded(address).replace(/^\.\//, '');
  const page = pageRefs.get(name.replace(/\.md$/i, ''));
  if (page !== undefined && /\.md$/i.test(name)) return { page };
  const file = fileRefs.get(name) ?? fileRefs.get(name.replace(/\.md$/i, ''));
  return file === undefined ? undefined : { file };
};

const byPath = (address: string, tree: RevisionTree, places: readonly string[]): string | undefined => {
  for (const place of places) {
    const target = resolveRelativePath(place, address);
    if (target === undefined) continue;
    const plain = target.replace(/\.md$/i, '');
    const folder = /^(?:(.*)\/)?README$/i.exec(plain)?.[1];
    const found = (folder === undefined ? undefined : tree.byPath(folder)) ?? tree.byPath(plain);
    if (found !== undefined) return found.id;
    // The README of the whole is the page that comes first.
    if (/^README$/i.test(plain)) return firstDocument(tree);
  }
  return undefined;
};

const firstDocument = (tree: RevisionTree): string | undefined =>
  tree.children(null).find((id) => tree.page(id)?.type === 'document');

/** The reference that a stable form (`/pages/<id>`) is; undefined for anything else. */
export const byStableForm = (
  address: string,
  tree: RevisionTree,
  toPage: (id: string) => ContentRef,
): ContentRef | undefined => {
  const [, kind, id] = /^\/(pages|files|reusable-contents|tags|openapi)\/([A-Za-z0-9_-]+)$/.exec(address) ?? [];
  if (kind === undefined || id === undefined) return undefined;
  const looksMade = madeId.test(id);
  switch (kind) {
    case 'pages':
      return looksMade || tree.page(id) !== undefined ? toPage(id) : undefined;
    case 'files':
      return looksMade || tree.file(id) !== undefined ? { kind: 'file', file: id } : undefined;
    case 'reusable-contents':
      return looksMade || tree.reusableContent(id) !== undefined
        ? { kind: 'reusable-content', reusableContent: id }
        : undefined;
    case 'tags':
      return { kind: 'tag', tag: id };
    default:
      return { kind: 'openapi', spec: id };
  }
};

/** The reference that an address in the application is; undefined for anything else. */
export const inApplication = (
  address: string,
  { baseUrl, spaceId }: Pick<LinkTargets, 'baseUrl' | 'spaceId'>,
  toPage: (id: string, space?: string) => ContentRef,
): ContentRef | undefined => {
  const prefix = `${baseUrl}/app/`;
  if (!address.startsWith(prefix)) return undefined;
  const [kind, id, inner, innerId, ...rest] = address.slice(prefix.length).split('/');
  if (id === undefined || !/^[A-Za-z0-9_-]+$/.test(id) || rest.length > 0) return undefined;
  const elsewhere = id === spaceId ? {} : { space: id };
  if (kind === 'spaces' && inner === undefined) return { kind: 'space', space: id };
  if (kind === 'spaces' && innerId !== undefined && /^[A-Za-z0-9_-]+$/.test(innerId)) {
    if (inner === 'pages') return toPage(innerId, id === spaceId ? undefined : id);
    if (inner === 'files') return { kind: 'file', file: innerId, ...elsewhere };
    if (inner === 'reusable-contents') return { kind: 'reusable-content', reusableContent: innerId, ...elsewhere };
  }
  if (inner !== undefined) return undefined;
  if (kind === 'collections') return { kind: 'collection', collection: id };
  return kind === 'users' ? { kind: 'user', user: id } : undefined;
};
