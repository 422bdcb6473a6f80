/** Splits an address into its path and its anchor, without `#`. */
export function splitAnchor(href: string): { path: string; anchor?: string } {
  const at = href.indexOf('#');
  return at < 0 ? { path: href } : { path: href.slice(0, at), anchor: href.slice(at + 1) };
}

const isAbsolute = (href: string): boolean => /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(href);

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}

/**
 * The file that an address in a page means, as a path from the root of the space (`guides/start.md`), without query and
 * anchor. Undefined for addresses with a scheme, for anchors alone, and for paths that leave the space.
 * @param from path of the page's markdown file, from the root
 */
export function resolveRelativePath(from: string, href: string): string | undefined {
  if (href === '' || href.startsWith('#') || isAbsolute(href)) return undefined;
  const target = decoded(splitAnchor(href).path.replace(/\?.*$/, ''));
  const segments = target.startsWith('/') ? [] : from.split('/').slice(0, -1);
  for (const segment of target.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) return undefined;
  }
  return segments.join('/');
}

/** The address of one file in another, both given as paths from the root: `relativePath('a/b.md', 'a/c/d.md')` is `c/d.md`. */
export function relativePath(from: string, to: string): string {
  const source = from.split('/').slice(0, -1);
  const target = to.split('/');
  let common = 0;
  while (common < source.length && common < target.length - 1 && source[common] === target[common]) common++;
  return [...source.slice(common).map(() => '..'), ...target.slice(common)].join('/');
}
