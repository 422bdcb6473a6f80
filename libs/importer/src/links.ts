import { posix } from 'node:path';
import type { ContentRef } from '@bindery/contracts';
import { parseMarkdown, serializeMarkdown } from '@bindery/documents';

/** What a relative link of the folder leads to, once the instance has given ids. */
export interface KnownTargets {
  /** By source path. */
  readonly pages: ReadonlyMap<string, string>;
  readonly files: ReadonlyMap<string, string>;
}

const isAbsolute = (href: string): boolean => /^[a-z][a-z0-9+.-]*:|^\/\//i.test(href);

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};

/** The page or file that a link of `from` means; undefined when it leads elsewhere or nowhere. */
export const resolveTarget = (from: string, href: string, targets: KnownTargets): ContentRef | undefined => {
  if (href === '' || href.startsWith('#') || isAbsolute(href)) return undefined;
  const [path = '', anchor] = href.split('#', 2);
  const clean = decoded(path.split('?', 1)[0] ?? '');
  const joined = posix
    .normalize(clean.startsWith('/') ? clean.slice(1) : posix.join(posix.dirname(from), clean))
    .replace(/\/$/, '');
  for (const candidate of [joined, `${joined}.md`, posix.join(joined, 'README.md')]) {
    const page = targets.pages.get(candidate);
    if (page !== undefined) return anchor ? { kind: 'anchor', anchor, page } : { kind: 'page', page };
  }
  const file = targets.files.get(joined);
  return file === undefined ? undefined : { kind: 'file', file };
};

/** The stable form of a reference, which the API takes in markdown: `/pages/<id>`, `/files/<id>`. */
const stableForm = (ref: ContentRef): string => {
  switch (ref.kind) {
    case 'page':
      return `/pages/${ref.page}`;
    case 'anchor':
      return ref.page === undefined ? `#${ref.anchor}` : `/pages/${ref.page}#${ref.anchor}`;
    case 'file':
      return `/files/${ref.file}`;
    case 'url':
      return ref.url;
    default:
      throw new Error(`a folder cannot link to a ${ref.kind}`);
  }
};

/** The page's markdown with every link into the folder replaced by its stable form; everything else stays as it is. */
export const withStableLinks = (markdown: string, from: string, targets: KnownTargets): string => {
  const parsed = parseMarkdown(markdown, { resolveLink: (href) => resolveTarget(from, href, targets) });
  return serializeMarkdown(parsed.document, {
    ...(parsed.title === undefined ? {} : { title: parsed.title }),
    frontMatter: parsed.frontMatter,
    resolveRef: stableForm,
  });
};
