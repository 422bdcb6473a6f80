import { posix } from 'node:path';
import { limits } from '@bindery/contracts';
import { extractReferences, parseMarkdown } from '@bindery/documents';
import type { HtmlReader } from '@bindery/html-reader';
import type { UploadedFile } from '../../storage/index.ts';
import type { ImportItem, SettledItem } from '../events.ts';
import { bytesOf, charactersOf, ImportFailed, type WorkContext } from '../work-context.ts';
import { localUrl } from './local.ts';
import { tooLarge } from './page-limits.ts';
import type { StagedPage, Staging } from './staging.ts';
import { BadArchive, unzip } from './unzip.ts';

export interface FilesDeps {
  readonly reader: HtmlReader;
  readonly staging: Staging;
  /** An upload of whoever started the import; undefined when there is none. */
  readonly find: (key: string) => Promise<UploadedFile | undefined>;
}

const markdownFile = /\.(?:md|markdown|mdown|mkd)$/i;
const htmlFile = /\.(?:html?|xhtml)$/i;
const textFile = /\.te?xt$/i;
const summaryFile = /^(?:[^/]+\/){0,2}SUMMARY\.md$/i;
/** Folders that hold no pages: those of tools, and of packages. */
const outside = /(?:^|\/)(?:\.[^/]+|node_modules)\//;

const isPagePath = (path: string): boolean =>
  (markdownFile.test(path) || htmlFile.test(path) || textFile.test(path)) && !outside.test(path);

/** Whether an upload holds other files. Documents of office programs do, and are none of ours. */
export const isArchive = ({ name, contentType }: Pick<UploadedFile, 'name' | 'contentType'>): boolean =>
  contentType === 'application/zip' || /\.zip$/i.test(name);

/** Where the files of an archive stand: in a folder of its name when there are other uploads. */
export const folderOf = (file: Pick<UploadedFile, 'name'>, alone: boolean): string =>
  alone ? '' : `${posix.basename(file.name).replace(/\.zip$/i, '') || 'archive'}/`;

/** The bytes of an upload. */
export const bytesOfUpload = async (file: UploadedFile): Promise<Uint8Array<ArrayBuffer>> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of await file.open()) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

interface Entry {
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
}

/** Reads uploads, archives with everything in them, and stages their pages. Goes on where it was left. */
export const readUploads = async (deps: FilesDeps, work: WorkContext, keys: readonly string[]): Promise<void> => {
  const { reader, staging, find } = deps;
  const { signal } = work;
  if (work.state().items.size === 0)
    await work.progress({
      found: keys.map((key): ImportItem => ({ id: work.newId(), kind: 'upload', address: key, depth: 0 })),
    });
  const uploads = new Set(keys);
  const taken = new Set([...work.state().items.values()].map(({ address }) => address));

  const pageIn = async ({
    path,
    bytes,
  }: {
    path: string;
    bytes: Uint8Array<ArrayBuffer>;
  }): Promise<StagedPage | string> => {
    if (htmlFile.test(path)) {
      const reading = await reader.read({ bytes, url: localUrl(path), trim: work.state().request.enhance }, signal);
      if (!reading.ok) return reading.message;
      const { title, description, markdown, images, anchors } = reading.page;
      const facts = {
        ...(title === undefined ? {} : { title }),
        ...(description === undefined ? {} : { description }),
      };
      return { ...facts, markdown, images, anchors };
    }
    let text: string;
    try {
      text = utf8.decode(bytes);
    } catch {
      return 'it is not UTF-8 text';
    }
    if (textFile.test(path)) {
      const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length + 1)));
      const title = posix.basename(path).replace(textFile, '');
      return { title, markdown: `${fence}\n${text.replace(/\n$/, '')}\n${fence}\n`, images: [], anchors: {} };
    }
    const large = tooLarge(text, 0);
    if (large !== undefined) return large;
    const references = extractReferences(parseMarkdown(text).document);
    const images = references.flatMap(({ ref, context }) =>
      ref.kind === 'url' && (context === 'image' || context === 'file') ? [ref.url] : [],
    );
    return { markdown: text, whole: true, images, anchors: {} };
  };

  /** Stages one file. @param before characters of everything before it */
  const stage = async (entry: Entry, before: number): Promise<Omit<SettledItem, 'id'>> => {
    const { path, bytes } = entry;
    const failed = (reason: string) => ({ outcome: 'failed' as const, reason, bytes: 0, characters: 0 });
    if (bytes === undefined) return failed(`it has more than ${limits.importRun.pageBytes} bytes`);
    const size = bytes.length;
    const page = await pageIn({ path, bytes });
    if (typeof page === 'string') return { ...failed(page), bytes: size };
    const large = tooLarge(page.markdown, before);
    if (large !== undefined) return { ...failed(large), bytes: size };
    return { outcome: 'read', blob: await staging.put(page), bytes: size, characters: page.markdown.length };
  };

  const freePath = (path: string): string => {
    if (!taken.has(path)) return path;
    const { dir, name, ext } = posix.parse(path);
    for (let number = 1; ; number += 1) {
      const candidate = posix.join(dir, `${name}-${number}${ext}`);
      if (!taken.has(candidate)) return candidate;
    }
  };

  const entriesOf = async (file: UploadedFile): Promise<readonly Entry[]> => {
    const bytes = await bytesOfUpload(file);
    if (!isArchive(file)) {
      const name = posix.basename(file.name);
      if (!isPagePath(name)) throw new BadArchive('it is neither markdown, HTML, text nor a ZIP archive');
      const fits = bytes.length <= limits.importRun.pageBytes;
      return [{ path: freePath(name), bytes: fits ? bytes : undefined }];
    }
    const folder = folderOf(file, keys.length === 1);
    const entries: Entry[] = [];
    const { entries: most, pageBytes: entryBytes, totalBytes } = limits.importRun;
    const bounds = { entries: most, entryBytes, totalBytes: totalBytes - bytesOf(work.state()) };
    const take = (path: string, content: Uint8Array<ArrayBuffer> | undefined): void => {
      entries.push({ path: freePath(`${folder}${path}`), bytes: content });
    };
    await unzip(bytes, bounds, isPagePath, take, signal);
    return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  };

  const readUpload = async (upload: ImportItem): Promise<void> => {
    const file = await find(upload.address);
    const nothing = { id: upload.id, bytes: 0, characters: 0 };
    if (file === undefined) {
      const reason = 'the upload is not there any more';
      await work.progress({ settled: [{ ...nothing, outcome: 'failed', reason }] });
      return;
    }
    let entries: readonly Entry[];
    try {
      entries = await entriesOf(file);
    } catch (error) {
      if (!(error instanceof BadArchive)) throw error;
      const reason = `${file.name}: ${error.message}`;
      await work.progress({ settled: [{ ...nothing, outcome: 'failed', reason }] });
      return;
    }
    const found: ImportItem[] = [];
    const settled: SettledItem[] = [];
    let characters = charactersOf(work.state());
    let beyond = 0;
    for (const entry of entries) {
      signal.throwIfAborted();
      if (work.state().items.size + found.length >= limits.importRun.pages + keys.length) {
        beyond += 1;
        continue;
      }
      const id = work.newId();
      taken.add(entry.path);
      found.push({ id, kind: summaryFile.test(entry.path) ? 'upload' : 'page', address: entry.path, depth: 0 });
      const staged = await stage(entry, characters);
      characters += staged.characters;
      settled.push({ ...staged, id });
    }
    settled.push({ ...nothing, outcome: 'skipped' });
    // All of an upload at once: it is read again as a whole when this process does not get so far.
    await work.progress({ found, settled, beyond });
  };

  for (const item of [...work.state().items.values()]) {
    signal.throwIfAborted();
    if (uploads.has(item.address) && !work.state().settled.has(item.id)) await readUpload(item);
  }
  const { items, settled } = work.state();
  if ([...items.values()].every(({ id }) => settled.get(id)?.outcome !== 'read')) {
    const [reason = 'there are no pages in them'] = [...settled.values()].flatMap((it) => it.reason ?? []);
    throw new ImportFailed('nothing', `Nothing in the files can be imported: ${reason}.`);
  }
};
