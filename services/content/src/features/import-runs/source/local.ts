import { resolveRelativePath, splitAnchor } from '@bindery/documents';

/** Stands for the root of uploaded files, while they are read as pages of the web. Nothing is ever there (RFC 2606). */
const origin = 'http://files.invalid';

/** The address of an uploaded file. @param path from the root */
export const localUrl = (path: string): string => `${origin}/${path.split('/').map(encodeURIComponent).join('/')}`;

/**
 * Where an address in an uploaded file leads.
 * @param from path of the file
 * @returns undefined when that is outside of the files
 */
export const localTarget = (
  from: string,
  href: string,
): { readonly path: string; readonly anchor?: string } | undefined => {
  const inside = href.startsWith(`${origin}/`) ? href.slice(origin.length) : href;
  const { anchor } = splitAnchor(inside);
  const path = inside.startsWith('#') ? from : resolveRelativePath(from, inside);
  if (path === undefined || path === '') return undefined;
  return { path, ...(anchor === undefined || anchor === '' ? {} : { anchor }) };
};

/** An address as the file had it, when it leads nowhere. */
export const asGiven = (href: string): string => (href.startsWith(`${origin}/`) ? href.slice(origin.length) : href);
