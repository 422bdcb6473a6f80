import { posix } from 'node:path';
import { slugify } from '@bindery/documents';
import { planStructure } from '@bindery/git-sync';
import type { ImportItem } from '../events.ts';
import type { StagedPage } from '../source/staging.ts';

/** A page of the result, before it has a text. Parents come before children, siblings in order. */
export interface OutlinePage {
  readonly id: string;
  readonly parent: string | null;
  readonly kind: 'document' | 'group' | 'link';
  /** What it is called when nothing else says it. */
  readonly label: string;
  readonly slug: string;
  /** What it is made of; absent for folders, groups and links. */
  readonly item?: ImportItem;
  /** Of links. */
  readonly target?: { readonly url: string } | { readonly id: string };
  readonly hidden?: true;
}

/** The name of a folder as a title. */
const titled = (segment: string): string => {
  let name = segment;
  try {
    name = decodeURIComponent(segment);
  } catch {
    // A path that is not well-formed is a name all the same.
  }
  const words = name
    .replace(/\.(?:html?|md|php|aspx?)$/i, '')
    .replace(/[-_+]+/g, ' ')
    .trim();
  return words === '' ? 'Untitled' : `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};

const segmentsOf = (address: string): readonly string[] =>
  new URL(address).pathname
    .replace(/\/(?:index|default)\.(?:html?|php|aspx?)$/i, '/')
    .split('/')
    .filter((segment) => segment !== '');

const commonOf = (paths: readonly (readonly string[])[]): number => {
  const [first = []] = paths;
  let common = 0;
  while (common < first.length && paths.every((path) => path[common] === first[common])) common += 1;
  return common;
};

/**
 * The pages of a website below one another as their paths are. A part of a path that has no page of its own is a folder,
 * when there are several pages in it. Siblings are in the order in which they were found, which is that of the navigation.
 * @param folderId makes the id of a folder from its path
 */
export const outlineOfSite = (
  items: readonly ImportItem[],
  folderId: (path: string) => string,
): readonly OutlinePage[] => {
  const [top] = items;
  const paths = items.map(({ address }) => segmentsOf(address));
  // A single page, or pages all below one: the last part of the path is a page's.
  const common = Math.min(commonOf(paths), ...paths.map((path) => Math.max(0, path.length)));
  const relative = paths.map((path) => path.slice(common));
  const byPath = new Map<string, ImportItem>();
  const within = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const path = relative[index] ?? [];
    const key = path.join('/');
    if (!byPath.has(key)) byPath.set(key, item);
    for (let length = 1; length < path.length; length += 1) {
      const folder = path.slice(0, length).join('/');
      within.set(folder, (within.get(folder) ?? 0) + 1);
    }
  }
  const children = new Map<string | null, OutlinePage[]>();
  const made = new Set<string>();
  const add = (page: OutlinePage): void => {
    if (made.has(page.id)) return;
    made.add(page.id);
    const list = children.get(page.parent) ?? [];
    list.push(page);
    children.set(page.parent, list);
  };
  for (const [index, item] of items.entries()) {
    const path = relative[index] ?? [];
    let parent: string | null = null;
    for (let length = 1; length < path.length; length += 1) {
      const folder = path.slice(0, length).join('/');
      const page = byPath.get(folder);
      const segment = path[length - 1] ?? '';
      if (page !== undefined) parent = page.id;
      else if ((within.get(folder) ?? 0) > 1) {
        const id = folderId(folder);
        add({ id, parent, kind: 'document', label: titled(segment), slug: slugify(titled(segment)) });
        parent = id;
      }
    }
    const name = path.at(-1) ?? segmentsOf(item.address).at(-1) ?? '';
    const label = name === '' ? new URL(item.address).hostname : titled(name);
    add({ id: item.id, parent, kind: 'document', label, slug: slugify(label), item });
  }
  const ordered: OutlinePage[] = [];
  const walk = (parent: string | null): void => {
    const list = children.get(parent) ?? [];
    // The page that the import began with stands first.
    for (const page of list.toSorted((a, b) => Number(b.id === top?.id) - Number(a.id === top?.id))) {
      ordered.push(page);
      walk(page.id);
    }
  };
  walk(null);
  return ordered;
};

/** The folder that all paths are in, with its slash; empty when there is none. */
export const commonFolder = (paths: readonly string[]): string => {
  const folders = paths.map((path) => path.split('/').slice(0, -1));
  const common = commonOf(folders);
  return common === 0 ? '' : `${folders[0]?.slice(0, common).join('/')}/`;
};

const asMarkdown = (path: string): string => {
  const { dir, name } = posix.parse(path);
  return posix.join(dir, `${/^(?:index|readme)$/i.test(name) ? 'README' : name}.md`);
};

/** A table of contents that lists files as they are called here. */
const withPlannedPaths = (summary: string, known: (path: string) => boolean): string =>
  summary.replace(/\]\(([^()\s]{1,512})\)/g, (link, path: string) => {
    const planned = asMarkdown(path.replace(/^\.?\//, ''));
    return !/^[a-z]+:/i.test(path) && known(planned) ? `](${planned})` : link;
  });

/**
 * The pages of uploaded files: as their `SUMMARY.md` lists them, else as their folders are.
 * @param folderId makes the id of a page that no file is behind, from its place
 * @param staged reads what a file says
 */
export const outlineOfFiles = async (
  items: readonly ImportItem[],
  folderId: (place: string) => string,
  staged: (item: ImportItem) => Promise<StagedPage>,
): Promise<readonly OutlinePage[]> => {
  const root = commonFolder(items.map(({ address }) => address));
  const byPath = new Map<string, ImportItem>();
  for (const item of items) {
    const path = asMarkdown(item.address.slice(root.length));
    if (!byPath.has(path)) byPath.set(path, item);
    else byPath.set(asMarkdown(`${item.address.slice(root.length)}-${item.id}.md`), item);
  }
  const summary = [...byPath.keys()].find((path) => /^SUMMARY\.md$/i.test(path));
  const summaryItem = summary === undefined ? undefined : byPath.get(summary);
  const textOf = async (path: string): Promise<string> => {
    const item = byPath.get(path);
    if (item === undefined) return '';
    const { title, markdown, whole } = await staged(item);
    return whole === true || title === undefined ? markdown : `# ${title}\n\n${markdown}`;
  };
  const planned = await planStructure({
    config: { root: '', readme: 'README.md', summary: summary ?? 'SUMMARY.md' },
    paths: byPath.keys(),
    summary:
      summaryItem === undefined
        ? undefined
        : withPlannedPaths((await staged(summaryItem)).markdown, (path) => byPath.has(path)),
    textOf,
  });
  const idOf = new Map(planned.map(({ key, path }) => [key, (path && byPath.get(path)?.id) || folderId(key)] as const));
  return planned.map((page): OutlinePage => {
    const { key, parent, kind, path, unlisted, wantedSlug, target } = page;
    const item = path === undefined ? undefined : byPath.get(path);
    const label = page.label ?? titled(posix.basename(path ?? 'Untitled'));
    const listed = target !== undefined && 'path' in target ? byPath.get(target.path)?.id : undefined;
    const url = target !== undefined && 'url' in target ? target.url : '';
    return {
      id: idOf.get(key) ?? folderId(key),
      parent: parent === null ? null : (idOf.get(parent) ?? null),
      kind,
      label,
      slug: wantedSlug,
      ...(item === undefined ? {} : { item }),
      ...(kind !== 'link' ? {} : { target: listed === undefined ? { url } : { id: listed } }),
      ...(unlisted === true && summary !== undefined ? { hidden: true } : {}),
    };
  });
};
