import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, posix, relative, sep } from 'node:path';
import { limits } from '@bindery/contracts';
import { parseSummary, type SummaryEntry } from '@bindery/documents';

/** A page to be, before it has an id. */
export interface PlannedPage {
  /** Batch-wide name, unique in the plan. */
  readonly ref: string;
  /** Source file relative to the folder with forward slashes; absent for a summary entry without one. */
  readonly path?: string;
  readonly title: string;
  readonly slug: string;
  /** Bytes of the source file; 0 without one. */
  readonly size: number;
  readonly parent: string | null;
  /** 0 at the top level. */
  readonly depth: number;
  /** A heading of the summary: a group of pages. */
  readonly group: boolean;
  /** Not in the summary: kept, but out of the navigation. */
  readonly hidden: boolean;
}

export interface PlannedFile {
  /** Relative to the folder, with forward slashes. */
  readonly path: string;
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
}

export interface ImportPlan {
  readonly folder: string;
  readonly title: string;
  /** Parents before children, siblings in order. */
  readonly pages: readonly PlannedPage[];
  readonly files: readonly PlannedFile[];
  /** What could not be taken along, in words. */
  readonly warnings: readonly string[];
  /** Fingerprint of names and contents: the same folder gives the same one, so that a repeated run resumes. */
  readonly digest: string;
}

/** The folder cannot be imported as it is. */
export class UnusableFolder extends Error {}

const contentTypes: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
  '.avif': 'image/avif',
  '.pdf': 'application/pdf',
  '.json': 'application/json',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.txt': 'text/plain',
  '.csv': 'text/csv',
  '.zip': 'application/zip',
  '.mp4': 'video/mp4',
};

const skippedFolders = new Set(['node_modules', '.git']);
const maxFilesInFolder = 50_000;

const listFiles = async (folder: string): Promise<string[]> => {
  const found: string[] = [];
  const visit = async (at: string): Promise<void> => {
    for (const entry of (await readdir(at, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const full = join(at, entry.name);
      if (entry.isDirectory() && !skippedFolders.has(entry.name)) await visit(full);
      // Symbolic links are not followed: they may lead out of the folder.
      else if (entry.isFile()) found.push(relative(folder, full).split(sep).join('/'));
      if (found.length > maxFilesInFolder)
        throw new UnusableFolder(`${folder} has more than ${maxFilesInFolder} files`);
    }
  };
  await visit(folder);
  return found;
};

const slugOf = (path: string): string => {
  const name = posix.basename(path, '.md');
  const folderName = posix.basename(posix.dirname(path));
  const word = name.toLowerCase() === 'readme' ? folderName : name;
  return toSlug(word === '.' || word === '' ? 'home' : word);
};

/** Lower case, letters and digits of any script, single dashes; never empty. */
const toSlug = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_+.-]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, limits.page_.slug) || 'page';

/** Gives siblings different slugs by a number at the end. */
const createSlugs = () => {
  const taken = new Map<string, Set<string>>();
  return (parent: string | null, wanted: string): string => {
    const siblings = taken.get(parent ?? '') ?? new Set<string>();
    taken.set(parent ?? '', siblings);
    let slug = wanted;
    for (let n = 2; siblings.has(slug); n += 1) slug = `${wanted.slice(0, limits.page_.slug - 6)}-${n}`;
    siblings.add(slug);
    return slug;
  };
};

const titleOfMarkdown = (markdown: string, path: string): string => {
  const heading = /^#[ \t]+(.+?)[ \t]*#*[ \t]*$/m.exec(markdown);
  return (heading?.[1] ?? posix.basename(path, '.md')).slice(0, limits.page_.title);
};

/** What the summary cannot say of a title: markdown marks and escapes. */
const plainTitle = (title: string): string =>
  title.replaceAll(/\\([\\`*_{}[\]()#+\-.!])/g, '$1').slice(0, limits.page_.title) || 'Untitled';

/**
 * Reads a folder in the hosted service's git format: `SUMMARY.md` gives the order and the nesting, markdown files that it
 * does not list become hidden pages, every other file of a known type comes along when it is small enough.
 * @throws UnusableFolder
 */
export const readFolder = async (folder: string, title?: string): Promise<ImportPlan> => {
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new UnusableFolder(`${folder} is not a folder`);
  const all = await listFiles(folder);
  const markdown = new Set(all.filter((path) => path.toLowerCase().endsWith('.md') && path !== 'SUMMARY.md'));
  if (markdown.size === 0) throw new UnusableFolder(`${folder} has no markdown files`);

  const warnings: string[] = [];
  const pages: PlannedPage[] = [];
  const placed = new Map<string, string>();
  const slugs = createSlugs();
  const hash = createHash('sha256');
  const sizes = new Map<string, number>();
  for (const path of all) {
    const bytes = await readFile(join(folder, path));
    sizes.set(path, bytes.byteLength);
    hash.update(`${path}\0`).update(createHash('sha256').update(bytes).digest());
  }

  const add = (
    page: Omit<PlannedPage, 'ref' | 'slug' | 'depth' | 'size'> & { readonly wantedSlug: string },
  ): PlannedPage => {
    const parentPage = pages.find((candidate) => candidate.ref === page.parent);
    const { wantedSlug, ...rest } = page;
    const added = {
      ...rest,
      ref: `page-${pages.length + 1}`,
      slug: slugs(page.parent, wantedSlug),
      size: sizes.get(page.path ?? '') ?? 0,
      depth: parentPage ? parentPage.depth + 1 : 0,
    };
    pages.push(added);
    if (page.path !== undefined) placed.set(page.path, added.ref);
    return added;
  };

  const addEntries = (entries: readonly SummaryEntry[], parent: string | null): void => {
    for (const entry of entries) {
      const path = entry.path === undefined ? undefined : posix.normalize(entry.path);
      if (path !== undefined && !markdown.has(path)) warnings.push(`SUMMARY.md lists ${path}, which is not there`);
      if (path !== undefined && placed.has(path))
        warnings.push(`SUMMARY.md lists ${path} twice; the first place counts`);
      const known = path !== undefined && markdown.has(path) && !placed.has(path);
      const added = add({
        ...(known ? { path } : {}),
        title: plainTitle(entry.title),
        parent,
        group: false,
        hidden: false,
        wantedSlug: path === undefined ? toSlug(entry.title) : slugOf(path),
      });
      addEntries(entry.children, added.ref);
    }
  };

  const summary = all.includes('SUMMARY.md') ? await readFile(join(folder, 'SUMMARY.md'), 'utf8') : '';
  if (summary === '') warnings.push('there is no SUMMARY.md; pages are taken in the order of their names');
  for (const group of parseSummary(summary).groups) {
    const parent =
      group.title === undefined
        ? null
        : add({
            title: plainTitle(group.title),
            parent: null,
            group: true,
            hidden: false,
            wantedSlug: toSlug(group.title),
          }).ref;
    addEntries(group.entries, parent);
  }
  for (const path of [...markdown].sort()) {
    if (placed.has(path)) continue;
    const text = await readFile(join(folder, path), 'utf8');
    add({
      path,
      title: titleOfMarkdown(text, path),
      parent: null,
      group: false,
      hidden: summary !== '',
      wantedSlug: slugOf(path),
    });
  }

  const files: PlannedFile[] = [];
  const leftOut: string[] = [];
  for (const path of all) {
    if (markdown.has(path) || path === 'SUMMARY.md') continue;
    const contentType = contentTypes[extname(path).toLowerCase()];
    if (contentType === undefined) {
      leftOut.push(path);
      continue;
    }
    const size = sizes.get(path) ?? 0;
    if (size === 0 || size > limits.file.base64Bytes) {
      warnings.push(`${path} has ${size} bytes; files of 1 to ${limits.file.base64Bytes} bytes can be taken along`);
      continue;
    }
    files.push({ path, name: basename(path).slice(0, limits.file.name), contentType, size });
  }
  if (leftOut.length > 0) {
    warnings.push(
      `${leftOut.length} files of other kinds were left out, for example ${leftOut.slice(0, 3).join(', ')}`,
    );
  }

  const first = pages.find((page) => page.path !== undefined);
  const named = title ?? first?.title ?? basename(dirname(join(folder, 'x')));
  return { folder, title: named.slice(0, limits.space.title), pages, files, warnings, digest: hash.digest('hex') };
};
