import { posix } from 'node:path';
import { slugify } from '@bindery/documents';
import { includesFolder } from './structure.ts';

/** A page of the tree, as far as its place in a repository goes. */
export interface PageToPlace {
  readonly id: string;
  readonly kind: 'document' | 'group' | 'link';
  readonly parent: string | null;
  readonly slug: string;
  readonly hasChildren: boolean;
  /** Where it stands already. */
  readonly path?: string;
}
export interface FileToPlace {
  readonly id: string;
  readonly name: string;
  readonly path?: string;
}
export interface ContentToPlace {
  readonly id: string;
  readonly title: string;
  readonly path?: string;
}

export interface PlacesInput {
  /** Parents before children, siblings in order. */
  readonly pages: readonly PageToPlace[];
  readonly files: readonly FileToPlace[];
  readonly contents: readonly ContentToPlace[];
  /** Paths that belong to somebody else. */
  readonly taken: Iterable<string>;
  readonly readme: string;
}

/** Path from the root of the space by id. */
export interface Places {
  readonly pages: ReadonlyMap<string, string>;
  readonly files: ReadonlyMap<string, string>;
  readonly contents: ReadonlyMap<string, string>;
}

/** Folder of files that have no place of their own. */
export const assetsFolder = '.gitbook/assets';

/** Paths that differ only in case or in how letters are composed are the same file on many machines. */
const folded = (path: string): string => path.normalize('NFC').toLowerCase();

/** One segment of a path, from a slug or a file name: nothing in it means anything to a file system, a shell or an address. */
const segmentOf = (text: string): string =>
  text
    .normalize('NFC')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
    .replace(/[\u0000-\u001f\u007f"*/:<>?\\|#%`[\]()]+/g, '-')
    .replace(/^[.\s-]+|[.\s]+$/g, '')
    .slice(0, 120)
    .trim() || 'page';

const readmeOf = (path: string): boolean => /^readme\.md$/i.test(posix.basename(path));

/** Gives out paths, each once. */
const createPlaces = (taken: Iterable<string>) => {
  const used = new Set<string>();
  const folders = new Set<string>();
  const isFree = (path: string): boolean => {
    const key = folded(path);
    if (used.has(key) || folders.has(key)) return false;
    for (let at = posix.dirname(key); at !== '.'; at = posix.dirname(at)) if (used.has(at)) return false;
    return true;
  };
  const take = (path: string): string => {
    const key = folded(path);
    used.add(key);
    for (let at = posix.dirname(key); at !== '.'; at = posix.dirname(at)) folders.add(at);
    return path;
  };
  for (const path of taken) take(path);
  return {
    isFree,
    take,
    /** @param named the path for the n-th try, from 1 */
    find(named: (attempt: number) => string): string {
      for (let attempt = 1; ; attempt += 1) {
        const path = named(attempt);
        if (isFree(path)) return take(path);
      }
    },
  };
};

/**
 * Where everything of a space stands in its repository. What has a place keeps it; the rest gets one by its slugs: the first
 * page is the README, a page with pages below it the README of its folder, files go to `.gitbook/assets`.
 */
export const allocatePlaces = (input: PlacesInput): Places => {
  const places = createPlaces(input.taken);
  const pages = new Map<string, string>();
  const files = new Map<string, string>();
  const contents = new Map<string, string>();
  /** Exactly the same path twice is a copy of something; the first one keeps it. Paths that differ in case are kept. */
  const kept = new Set<string>();
  const keep = (id: string, path: string | undefined, into: Map<string, string>): void => {
    if (path === undefined || kept.has(path)) return;
    kept.add(path);
    into.set(id, places.take(path));
  };
  for (const { id, kind, path } of input.pages) if (kind === 'document') keep(id, path, pages);
  for (const { id, path } of input.files) keep(id, path, files);
  for (const { id, path } of input.contents) keep(id, path, contents);

  const byId = new Map(input.pages.map((page) => [page.id, page]));
  const folderOf = (id: string | null): string => {
    const page = id === null ? undefined : byId.get(id);
    if (page === undefined) return '';
    const path = pages.get(page.id);
    if (path === undefined) return posix.join(folderOf(page.parent), segmentOf(page.slug));
    const folder = readmeOf(path) ? posix.dirname(path) : path.replace(/\.md$/i, '');
    return folder === '.' ? '' : folder;
  };
  const first = input.pages.find(({ kind }) => kind === 'document');
  for (const page of input.pages) {
    if (page.kind !== 'document' || pages.has(page.id)) continue;
    if (page === first && places.isFree(input.readme)) {
      pages.set(page.id, places.take(input.readme));
      continue;
    }
    const folder = folderOf(page.parent);
    const path = places.find((attempt) => {
      const name = `${segmentOf(page.slug)}${attempt === 1 ? '' : `-${attempt}`}`;
      return posix.join(folder, page.hasChildren ? `${name}/README.md` : `${name}.md`);
    });
    pages.set(page.id, path);
  }
  for (const { id, name } of input.files) {
    if (files.has(id)) continue;
    const safe = segmentOf(name);
    const extension = posix.extname(safe);
    const stem = safe.slice(0, safe.length - extension.length);
    const path = places.find((n) => `${assetsFolder}/${stem}${n === 1 ? '' : `-${n}`}${extension}`);
    files.set(id, path);
  }
  for (const { id, title } of input.contents) {
    if (contents.has(id)) continue;
    contents.set(
      id,
      places.find((n) => `${includesFolder}/${slugify(title)}${n === 1 ? '' : `-${n}`}.md`),
    );
  }
  return { pages, files, contents };
};
