import { posix } from 'node:path';
import type { Tree } from '../revisions/index.ts';

/**
 * Where a page stands as a markdown file, so that relative links mean the same in a repository: a page with pages below
 * it is the `README.md` of its folder, any other is `<path>.md`.
 */
export const markdownPath = (tree: Tree, pageId: string): string => {
  const path = tree.pathOf(pageId);
  return tree.children(pageId).length > 0 ? posix.join(path, 'README.md') : `${path}.md`;
};

/** Finds the page that a markdown path names; the reverse of `markdownPath`, and lenient about a missing `.md`. */
export const pageAtMarkdownPath = (tree: Tree, path: string): string | undefined => {
  const plain = path.replace(/\.md$/i, '');
  const folder = /^(?:(.*)\/)?README$/i.exec(plain)?.[1];
  return (folder === undefined ? undefined : tree.byPath(folder)?.id) ?? tree.byPath(plain)?.id;
};

/**
 * A requested path, decoded already, without one slash at its end. Empty segments stay: no page has such a path.
 */
export const normalisedPath = (path: string): string => path.replace(/\/$/, '');
