import { type ContentRef, type JSONDocument, limits } from '@bindery/contracts';
import { type LinkContext, mapReferences, parseMarkdown, serializeMarkdown, splitAnchor } from '@bindery/documents';
import { addressInRepository, fileFailed, type LinkIndex, plainTitle, resolveInRepository } from '@bindery/git-sync';
import { byStableForm, fieldsOf, inApplication } from '../change-requests/index.ts';
import { frontMatterOf, refWriter } from '../pages/index.ts';
import type { PageMetadata, RevisionTree } from '../revisions/index.ts';

/** The space and revision that references are read and written in. */
export interface CodecScope {
  readonly baseUrl: string;
  readonly spaceId: string;
  readonly tree: RevisionTree;
}

/** Where references lead as files, by id. */
export interface PlaceIndex {
  readonly pages: ReadonlyMap<string, string>;
  readonly files: ReadonlyMap<string, string>;
  readonly contents: ReadonlyMap<string, string>;
}

/** A page as its file says it. */
export interface ReadPage {
  /** From the leading heading, else from front matter. */
  readonly title?: string;
  readonly fields: Omit<Partial<PageMetadata>, 'slug' | 'title'>;
  readonly document: JSONDocument;
}

/** Rounds after which a text that keeps changing is taken as it is. */
const maxRounds = 4;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** The text of a file. @throws GitSyncFailed naming it */
export const textOfFile = (path: string, bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes);
  } catch {
    throw fileFailed(path, 'is not UTF-8 text');
  }
};

/** Turns addresses of a file into references. */
export const referenceReader = (path: string, index: LinkIndex, { baseUrl, spaceId, tree }: CodecScope) => {
  return (href: string, _context: LinkContext): ContentRef | undefined => {
    if (href === '') return undefined;
    if (href.startsWith('#')) return href.length > 1 ? { kind: 'anchor', anchor: href.slice(1) } : undefined;
    const { path: address, anchor } = splitAnchor(href);
    const toPage = (id: string, space?: string): ContentRef => {
      const elsewhere = space === undefined ? {} : { space };
      return anchor === undefined || anchor === ''
        ? { kind: 'page', page: id, ...elsewhere }
        : { kind: 'anchor', anchor, page: id, ...elsewhere };
    };
    if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(address)) return inApplication(address, { baseUrl, spaceId }, toPage);
    const found = resolveInRepository(path, href, index);
    if (found?.kind === 'page') return toPage(found.id);
    if (found?.kind === 'file') return { kind: 'file', file: found.id };
    if (found?.kind === 'include') return { kind: 'reusable-content', reusableContent: found.id };
    return byStableForm(address, tree, toPage);
  };
};

/** Writes references as addresses in a file; `referenceReader` reads them back. */
export const referenceWriter = (path: string, places: PlaceIndex, scope: CodecScope) => {
  // Pages have no place of their own here, so that what is not a file is written by its id.
  const page = { id: '', type: 'document', parent: null, metadata: { title: '', slug: '' } } as const;
  const stable = refWriter({ ...scope, page, style: 'stable' });
  const within = (space: string | undefined): boolean => space === undefined || space === scope.spaceId;
  return (ref: ContentRef): string => {
    if (ref.kind === 'page' || ref.kind === 'anchor') {
      const target = ref.page === undefined || !within(ref.space) ? undefined : places.pages.get(ref.page);
      if (target !== undefined)
        return addressInRepository(path, target, ref.kind === 'anchor' ? ref.anchor : undefined);
    }
    if (ref.kind === 'file' && within(ref.space)) {
      const target = places.files.get(ref.file);
      if (target !== undefined) return addressInRepository(path, target);
    }
    if (ref.kind === 'reusable-content' && within(ref.space)) {
      const target = places.contents.get(ref.reusableContent);
      if (target !== undefined) return addressInRepository(path, target);
    }
    return stable(ref);
  };
};

/** Front matter names pictures of the cover by address, as links do. */
const withCover = (
  fields: ReadPage['fields'],
  resolve: (href: string, context: LinkContext) => ContentRef | undefined,
): ReadPage['fields'] => {
  const { cover } = fields;
  if (cover === undefined) return fields;
  const resolved = Object.entries(cover).map(([name, value]) => {
    const { kind, url } = Object(value) as { kind?: unknown; url?: unknown };
    return [name, kind === 'url' && typeof url === 'string' ? (resolve(url, 'image') ?? value) : value] as const;
  });
  return { ...fields, cover: Object.fromEntries(resolved) };
};

const checkSize = (text: string, path: string): void => {
  if (text.length > limits.markdown.maxLength)
    throw fileFailed(path, `has ${text.length} characters, of ${limits.markdown.maxLength} that a page may have`);
  if (text.split('\n', limits.markdown.lines + 1).length > limits.markdown.lines)
    throw fileFailed(path, `has more than ${limits.markdown.lines} lines`);
};

const withReferences = (
  document: JSONDocument,
  resolve: (href: string, context: LinkContext) => ContentRef | undefined,
): JSONDocument =>
  mapReferences(document, (ref, context) => (ref.kind === 'url' ? (resolve(ref.url, context) ?? ref) : ref));

/** Reads the file of a reusable content; its title stands in front matter. @throws GitSyncFailed as `readPage` */
export const readContent = (text: string, path: string, index: LinkIndex, scope: CodecScope) => {
  checkSize(text, path);
  const { frontMatter, document } = parseMarkdown(text, { title: false });
  const { title } = frontMatter;
  return {
    document: withReferences(document, referenceReader(path, index, scope)),
    ...(typeof title === 'string' ? { title: plainTitle(title) } : {}),
  };
};

/** Writes a reusable content as a file that says the same when it is read and written again. */
export const writeContent = (
  content: { readonly title: string; readonly document: JSONDocument },
  path: string,
  places: PlaceIndex,
  index: LinkIndex,
  scope: CodecScope,
): string => {
  const once = (document: JSONDocument): string =>
    serializeMarkdown(document, {
      frontMatter: { title: plainTitle(content.title) },
      resolveRef: referenceWriter(path, places, scope),
    });
  let text = once(content.document);
  for (let round = 0; round < maxRounds; round += 1) {
    const again = once(readContent(text, path, index, scope).document);
    if (again === text) break;
    text = again;
  }
  return text;
};

/**
 * Reads a markdown file.
 * @throws GitSyncFailed naming the file, when it is larger than a page may be
 */
export const readPage = (text: string, path: string, index: LinkIndex, scope: CodecScope): ReadPage => {
  checkSize(text, path);
  const resolve = referenceReader(path, index, scope);
  const parsed = parseMarkdown(text);
  const document = withReferences(parsed.document, resolve);
  if (text.length > limits.document.maxLength / 400 && JSON.stringify(document).length > limits.document.maxLength)
    throw fileFailed(path, 'is larger as a document than a page may be; divide the page');
  const { title: named, ...fields } = fieldsOf(parsed.frontMatter);
  const title = parsed.title ?? named;
  if (title !== undefined && title.length > limits.page_.title)
    throw fileFailed(path, `the heading is longer than ${limits.page_.title} characters`);
  return { ...(title === undefined ? {} : { title: plainTitle(title) }), fields: withCover(fields, resolve), document };
};

export interface PageToWrite {
  readonly metadata: PageMetadata;
  readonly document: JSONDocument;
  /** Hidden because it is not listed, which its file does not say. */
  readonly unlisted: boolean;
}

const writeOnce = (
  { metadata, document, unlisted }: PageToWrite,
  path: string,
  places: PlaceIndex,
  scope: CodecScope,
) => {
  const resolveRef = referenceWriter(path, places, scope);
  const { hidden: _hidden, ...asListed } = metadata;
  const { linkTitle: _linkTitle, ...inSummary } = metadata;
  // What the table of contents says of a page stands there.
  const shown = unlisted ? asListed : inSummary;
  return serializeMarkdown(document, {
    title: plainTitle(metadata.title),
    frontMatter: frontMatterOf(shown, resolveRef),
    resolveRef,
  });
};

/** Which file stands where, the other way round. */
export const indexOf = (places: PlaceIndex): LinkIndex => {
  const turned = (map: ReadonlyMap<string, string>) => new Map([...map].map(([id, path]) => [path, id] as const));
  const [pages, files, contents] = [turned(places.pages), turned(places.files), turned(places.contents)];
  return {
    page: (path) => pages.get(path),
    file: (path) => files.get(path),
    include: (path) => contents.get(path),
  };
};

/**
 * Writes a page as a markdown file that says the same when it is read and written again: documents that did not come from
 * markdown may need a round until they do.
 */
export const writePage = (
  page: PageToWrite,
  path: string,
  places: PlaceIndex,
  index: LinkIndex,
  scope: CodecScope,
): string => {
  let text = writeOnce(page, path, places, scope);
  for (let round = 0; round < maxRounds; round += 1) {
    const again = rewritten(text, path, page, places, index, scope);
    if (again === text) break;
    text = again;
  }
  return text;
};

/** What a text is once it was read and written. */
export const rewritten = (
  text: string,
  path: string,
  like: Pick<PageToWrite, 'metadata' | 'unlisted'>,
  places: PlaceIndex,
  index: LinkIndex,
  scope: CodecScope,
): string => {
  const { title, fields, document } = readPage(text, path, index, scope);
  const metadata = { ...fields, title: title ?? like.metadata.title, slug: '' };
  return writeOnce({ metadata, document, unlisted: like.unlisted }, path, places, scope);
};
