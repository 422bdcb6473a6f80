import { posix } from 'node:path';
import { parseMarkdown, parseSummary, type SummaryEntry, slugify, splitFrontMatter } from '@bindery/documents';
import { GitSyncFailed } from '../errors.ts';
import type { RepositoryConfig } from './config.ts';

/** A page to be, as the files of a repository say it; paths are from the root of the space. */
export interface PlannedPage {
  /** Unique in the plan. */
  readonly key: string;
  readonly kind: 'document' | 'group' | 'link';
  readonly parent: string | null;
  /** What the table of contents calls it. */
  readonly label?: string;
  /** The shorter title that stands there in quotes. */
  readonly linkTitle?: string;
  readonly wantedSlug: string;
  /** Of the markdown file; absent for groups, links and titles without a file. */
  readonly path?: string;
  /** The file is not in the table of contents: a hidden page. */
  readonly unlisted?: boolean;
  /** Where a link leads: to an address, or to the page of a file that stands elsewhere in the table of contents. */
  readonly target?: { readonly url: string } | { readonly path: string };
}

export interface StructureInput {
  readonly config: RepositoryConfig;
  /** Paths of all files from the root of the space. */
  readonly paths: Iterable<string>;
  /** Text of the table of contents; undefined when there is none. */
  readonly summary: string | undefined;
  /** Start of a page, for its title. */
  readonly textOf: (path: string) => Promise<string>;
}

/** Pages in one space of a repository. */
const maxPages = 20_000;
/** Folder of reusable contents. */
export const includesFolder = '.gitbook/includes';

const isMarkdown = (path: string): boolean => /\.md$/i.test(path);
/** Folders that hold no pages: those of tools, and of packages. */
const isOutside = (path: string): boolean => /(?:^|\/)(?:\.[^/]+|node_modules)\//.test(path);

/** The paths of a space's markdown files that can be pages, in the order of their names. */
export const pagePaths = ({ paths, config }: Pick<StructureInput, 'paths' | 'config'>): string[] =>
  [...paths].filter((path) => isMarkdown(path) && !isOutside(path) && path !== config.summary).sort();

/** The title of a page, from no more of it than is needed. */
export const titleAtStart = (text: string): string | undefined => {
  const body = splitFrontMatter(text.replaceAll('\r\n', '\n').replace(/^\uFEFF/, '')).body.replace(
    /^(?:[ \t]*\n)+/,
    '',
  );
  const end = body.search(/\n[ \t]*\n/);
  return parseMarkdown(end < 0 ? body : body.slice(0, end), { frontMatter: false }).title;
};

const slugOfPath = (path: string): string => {
  const name = posix.basename(path).replace(/\.md$/i, '');
  const folder = posix.basename(posix.dirname(path));
  return slugify(name.toLowerCase() === 'readme' && folder !== '.' ? folder : name);
};

/** One listing of the table of contents. */
interface Listing {
  readonly entry: SummaryEntry;
  readonly path?: string;
}

/** Which of several listings of one file is its page; the others are links to it. */
const chosen = async (path: string, listings: readonly Listing[], input: StructureInput): Promise<Listing> => {
  const [first] = listings;
  if (first === undefined) throw new Error('a listing is missing');
  if (listings.length === 1) return first;
  const title = titleAtStart(await input.textOf(path));
  const score = ({ entry }: Listing): number =>
    (entry.title === title ? 4 : 0) + (entry.children.length > 0 ? 2 : 0) + (entry.linkTitle === undefined ? 0 : 1);
  return listings.reduce((best, listing) => (score(listing) > score(best) ? listing : best));
};

const bySummary = async (input: StructureInput, markdown: ReadonlySet<string>): Promise<PlannedPage[]> => {
  const { groups } = parseSummary(input.summary ?? '');
  const pathOf = (entry: SummaryEntry): string | undefined => {
    const path = entry.path === undefined ? undefined : posix.normalize(entry.path).replace(/^\/+/, '');
    return path !== undefined && markdown.has(path) ? path : undefined;
  };
  const listings = new Map<string, Listing[]>();
  const note = (entries: readonly SummaryEntry[]): void => {
    for (const entry of entries) {
      const path = pathOf(entry);
      if (path !== undefined) listings.set(path, [...(listings.get(path) ?? []), { entry, path }]);
      note(entry.children);
    }
  };
  for (const { entries } of groups) note(entries);
  const documents = new Set<SummaryEntry>();
  for (const [path, list] of listings) documents.add((await chosen(path, list, input)).entry);

  const pages: PlannedPage[] = [];
  const add = (page: Omit<PlannedPage, 'key'>): string => {
    if (pages.length >= maxPages)
      throw new GitSyncFailed('too-many', `The repository has more than ${maxPages} pages.`);
    const key = `p${pages.length}`;
    pages.push({ key, ...page });
    return key;
  };
  const addEntries = (entries: readonly SummaryEntry[], parent: string | null): void => {
    for (const entry of entries) {
      const path = pathOf(entry);
      const label = entry.title.trim() === '' ? 'Untitled' : entry.title;
      const common = { parent, label, ...(entry.linkTitle === undefined ? {} : { linkTitle: entry.linkTitle }) };
      if (path !== undefined && documents.has(entry)) {
        const key = add({ ...common, kind: 'document', path, wantedSlug: slugOfPath(path) });
        addEntries(entry.children, key);
        continue;
      }
      const address = entry.url ?? entry.path;
      if (address === undefined || entry.children.length > 0) {
        // A title without a file, or one that has pages below it: a page of its own.
        const key = add({ ...common, kind: 'document', wantedSlug: slugify(label) });
        addEntries(entry.children, key);
        continue;
      }
      const target = path === undefined ? { url: address } : { path };
      add({ ...common, kind: 'link', wantedSlug: '', target });
    }
  };
  for (const { title, entries } of groups) {
    const parent =
      title === undefined
        ? null
        : add({ kind: 'group', parent: null, label: title || 'Untitled', wantedSlug: slugify(title) });
    addEntries(entries, parent);
  }
  return pages;
};

/** Without a table of contents: folders with a README are pages with pages below, other folders at the top are groups. */
const byFolders = (input: StructureInput, markdown: readonly string[]): PlannedPage[] => {
  if (markdown.length > maxPages)
    throw new GitSyncFailed('too-many', `The repository has more than ${maxPages} pages.`);
  const { readme } = input.config;
  const pages: PlannedPage[] = [];
  const folders = new Map<string, string | null>([['.', null]]);
  const isReadme = (path: string): boolean => /^readme\.md$/i.test(posix.basename(path));
  const parentOf = (folder: string): string | null => {
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const above = posix.dirname(folder);
    const parent = above === '.' ? null : parentOf(above);
    let key = parent;
    if (above === '.') {
      key = `p${pages.length}`;
      const label = posix.basename(folder);
      pages.push({ key, kind: 'group', parent: null, label, wantedSlug: slugify(label) });
    }
    folders.set(folder, key);
    return key;
  };
  const depth = (path: string): number => path.split('/').length;
  // The first page first, then READMEs before what is in their folder, folder by folder.
  const rank = (path: string): number => (path === readme ? 0 : 1);
  const ordered = markdown.toSorted(
    (a, b) => rank(a) - rank(b) || depth(a) - depth(b) || Number(isReadme(b)) - Number(isReadme(a)),
  );
  for (const path of ordered) {
    const folder = posix.dirname(path);
    const isFolder = isReadme(path) && folder !== '.';
    const parent = isFolder ? parentOf(posix.dirname(folder)) : parentOf(folder);
    const key = `p${pages.length}`;
    pages.push({ key, kind: 'document', parent, path, wantedSlug: slugOfPath(path) });
    if (isFolder && !folders.has(folder)) folders.set(folder, key);
  }
  return pages;
};

/**
 * The pages of a space in a repository: as `SUMMARY.md` lists them (its headings are groups, a file listed again is a link
 * to its page), then, hidden, the markdown files that it does not list. Parents come before children, siblings in order.
 * @throws GitSyncFailed too-many
 */
export const planStructure = async (input: StructureInput): Promise<readonly PlannedPage[]> => {
  const all = pagePaths(input);
  if (input.summary === undefined) return byFolders(input, all);
  const listed = await bySummary(input, new Set(all));
  const known = new Set(listed.flatMap(({ path }) => (path === undefined ? [] : [path])));
  const { readme } = input.config;
  const pages: PlannedPage[] = [];
  // The first page need not be listed to be there.
  if (all.includes(readme) && !known.has(readme)) {
    pages.push({ key: 'readme', kind: 'document', parent: null, path: readme, wantedSlug: slugOfPath(readme) });
    known.add(readme);
  }
  pages.push(...listed);
  for (const path of all) {
    if (known.has(path)) continue;
    if (pages.length >= maxPages)
      throw new GitSyncFailed('too-many', `The repository has more than ${maxPages} pages.`);
    const slug = slugOfPath(path);
    pages.push({ key: `u${pages.length}`, kind: 'document', parent: null, path, unlisted: true, wantedSlug: slug });
  }
  return pages;
};
