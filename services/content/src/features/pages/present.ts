import type {
  ContentRef,
  GitSyncBlob,
  RevisionPage,
  RevisionPageDocument,
  RevisionPageGroup,
  RevisionPageLink,
  RevisionReusableContent,
} from '@bindery/contracts';
import type { PageNode, ReusableContentNode, Tree } from '../revisions/index.ts';
import { coverOf, layoutOf } from './layout.ts';

/** Which revision pages are shown from. */
export interface PageScope {
  readonly baseUrl: string;
  readonly spaceId: string;
  readonly tree: Tree;
  /** The file of a page in the repository of the space, by page id. */
  readonly blobs?: (id: string) => GitSyncBlob | undefined;
}

/** Address of a page in the application. */
export const pageUrl = (baseUrl: string, spaceId: string, pageId: string): string =>
  `${baseUrl}/app/spaces/${spaceId}/pages/${pageId}`;

type Child = RevisionPageDocument | RevisionPageLink;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const copied = <T extends object, K extends keyof T>(source: T, keys: readonly K[]): Partial<Pick<T, K>> => {
  const target: Partial<Mutable<Pick<T, K>>> = {};
  for (const key of keys) if (source[key] !== undefined) target[key] = source[key];
  return target;
};

const common = (page: PageNode) => ({
  id: page.id,
  title: page.metadata.title,
  ...copied(page.metadata, ['linkTitle', 'emoji', 'icon', 'condition']),
  ...copied(page, ['createdAt', 'updatedAt']),
});

const metaLinksOf = (stored: Readonly<Record<string, unknown>> | undefined): RevisionPageDocument['metaLinks'] => {
  if (stored === undefined) return undefined;
  const { canonical, alternates } = stored;
  const isTarget = (ref: unknown): ref is ContentRef => {
    const { kind, url, page } = Object(ref) as { kind?: unknown; url?: unknown; page?: unknown };
    return (kind === 'url' && typeof url === 'string') || (kind === 'page' && typeof page === 'string');
  };
  return {
    ...(isTarget(canonical) ? { canonical } : {}),
    ...(Array.isArray(alternates) ? { alternates: alternates.filter(isTarget) } : {}),
  };
};

/** Where a link page leads, as an address; undefined when it leads nowhere that has one. */
const hrefOf = (scope: PageScope, target: ContentRef): string | undefined => {
  switch (target.kind) {
    case 'url':
      return target.url;
    case 'page':
      return pageUrl(scope.baseUrl, target.space ?? scope.spaceId, target.page);
    case 'space':
      return `${scope.baseUrl}/app/spaces/${target.space}`;
    default:
      return undefined;
  }
};

const linkPage = (scope: PageScope, page: PageNode): RevisionPageLink => {
  const target: ContentRef = page.target ?? { kind: 'url', url: '' };
  const href = hrefOf(scope, target);
  return {
    type: 'link',
    kind: 'link',
    ...common(page),
    target,
    ...(href === undefined ? {} : { href }),
    ...copied(page.metadata, ['hidden']),
  };
};

const groupPage = (page: PageNode, path: string, pages: Child[]): RevisionPageGroup => ({
  type: 'group',
  kind: 'group',
  ...common(page),
  slug: page.metadata.slug,
  path,
  pages,
  ...copied(page.metadata, ['hidden', 'noIndex', 'noRobotsIndex']),
});

const documentPage = (scope: PageScope, page: PageNode, path: string, pages: Child[]): RevisionPageDocument => {
  const { metadata } = page;
  const cover = coverOf(metadata.cover);
  const metaLinks = metaLinksOf(metadata.metaLinks);
  const git = scope.blobs?.(page.id);
  return {
    type: 'document',
    kind: 'sheet',
    ...common(page),
    urls: { app: pageUrl(scope.baseUrl, scope.spaceId, page.id) },
    slug: metadata.slug,
    path,
    ...copied(metadata, ['description']),
    pages,
    layout: layoutOf(metadata.layout),
    ...(cover ? { cover } : {}),
    ...(metadata.variables ? { variables: { ...metadata.variables } } : {}),
    ...copied(metadata, ['hidden', 'noIndex', 'noRobotsIndex']),
    ...(metaLinks ? { metaLinks } : {}),
    tags: (metadata.tags ?? []).map(({ tag, primary }) => ({
      tag: { kind: 'tag', tag },
      ...(primary === undefined ? {} : { primary }),
    })),
    ...copied(page, ['documentId']),
    ...(git ? { git } : {}),
  };
};

/**
 * A page with everything below it, without bodies (resources section 25). Works through a list rather than by recursion:
 * how deep pages nest is up to the content.
 */
export const presentPage = (scope: PageScope, page: PageNode): RevisionPage => {
  const pathAbove = page.parent === null ? '' : `${scope.tree.pathOf(page.parent)}/`;
  const top: RevisionPage[] = [];
  const work: { readonly page: PageNode; readonly above: string; readonly into: RevisionPage[] }[] = [
    { page, above: pathAbove, into: top },
  ];
  for (let item = work.pop(); item !== undefined; item = work.pop()) {
    if (item.page.type === 'link') {
      item.into.push(linkPage(scope, item.page));
      continue;
    }
    const path = `${item.above}${item.page.metadata.slug}`;
    const pages: Child[] = [];
    item.into.push(
      item.page.type === 'group' ? groupPage(item.page, path, pages) : documentPage(scope, item.page, path, pages),
    );
    const children = scope.tree.children(item.page.id);
    for (let index = children.length - 1; index >= 0; index -= 1) {
      const child = scope.tree.page(children[index] ?? '');
      // Groups are only at the top level, so that what is below a page is one of the two kinds of `Child`.
      if (child && child.type !== 'group') work.push({ page: child, above: `${path}/`, into: pages as RevisionPage[] });
    }
  }
  const [result] = top;
  if (result === undefined) throw new Error('a page was not presented');
  return result;
};

/** The whole table of contents. */
export const presentPages = (scope: PageScope): RevisionPage[] =>
  scope.tree.children(null).flatMap((id) => {
    const page = scope.tree.page(id);
    return page ? [presentPage(scope, page)] : [];
  });

/** A reusable content (resources section 25). */
export const presentReusableContent = (content: ReusableContentNode): RevisionReusableContent => ({
  id: content.id,
  title: content.title,
  ...(content.documentId === undefined ? {} : { document: content.documentId }),
});
