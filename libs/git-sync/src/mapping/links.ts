import { relativePath, resolveRelativePath, splitAnchor } from '@bindery/documents';

/** What a path of the repository is in the space. */
export interface LinkIndex {
  /** By path from the root of the space. */
  page(path: string): string | undefined;
  include(path: string): string | undefined;
  file(path: string): string | undefined;
}

export type LinkTarget =
  | { readonly kind: 'page'; readonly id: string; readonly anchor?: string }
  | { readonly kind: 'include'; readonly id: string }
  | { readonly kind: 'file'; readonly id: string };

/**
 * What an address in a file of the repository leads to; undefined when that is outside of the space or not there. Read as
 * the hosted service does: a folder means its README, `.md` may be left out, a path from the root begins with a slash.
 * @param from path of the file from the root of the space
 */
export const resolveInRepository = (from: string, href: string, index: LinkIndex): LinkTarget | undefined => {
  const path = resolveRelativePath(from, href);
  if (path === undefined) return undefined;
  const { anchor } = splitAnchor(href);
  const candidates = path === '' ? ['README.md'] : [path, `${path}.md`, `${path}/README.md`];
  for (const candidate of candidates) {
    const id = index.page(candidate);
    if (id !== undefined) return { kind: 'page', id, ...(anchor === undefined || anchor === '' ? {} : { anchor }) };
  }
  if (path === '') return undefined;
  const include = index.include(path);
  if (include !== undefined) return { kind: 'include', id: include };
  const file = index.file(path);
  return file === undefined ? undefined : { kind: 'file', id: file };
};

/** Characters that would end a path early, or make it something else. */
const encoded = (path: string): string =>
  path.replace(/[%#?\\]/g, (character) => encodeURIComponent(character)).replace(/^(?=[a-z][a-z0-9+.-]*:)/i, './');

/** The address of one file of the repository in another; `resolveInRepository` reads it back. */
export const addressInRepository = (from: string, to: string, anchor?: string): string => {
  const address = encoded(relativePath(from, to));
  return anchor === undefined ? address : `${address}#${anchor}`;
};
