import type { ContentRef, JSONDocument } from '@bindery/contracts';
import { relativePath, serializeMarkdown } from '@bindery/documents';
import type { PageNode, Tree } from '../revisions/index.ts';
import { frontMatterOf } from './front-matter.ts';
import { markdownPath } from './paths.ts';

/** How links are written: from page to page, or by id. */
export type LinkStyle = 'relative' | 'stable';

/** The revision, and the page, from which references are written. */
export interface LinkScope {
  readonly baseUrl: string;
  readonly spaceId: string;
  readonly tree: Tree;
  readonly page: PageNode;
  readonly style: LinkStyle;
}

/** Where references are written by id only, no revision is needed. */
export interface StableLinkScope {
  readonly baseUrl: string;
  readonly spaceId: string;
  readonly style: 'stable';
}

/**
 * How references are written in markdown. Edits read all of these back: relative paths as `markdownPath` forms them,
 * `/pages/<id>`, `/files/<id>` and the like within the space, addresses in the application for what is outside.
 */
export const refWriter = (scope: LinkScope | StableLinkScope): ((ref: ContentRef) => string) => {
  const { baseUrl, spaceId } = scope;
  const relative = scope.style === 'relative' ? scope : undefined;
  const app = `${baseUrl}/app`;
  const from = relative && markdownPath(relative.tree, relative.page.id);
  /** Where a space's own things are named from: nothing in front within the space. */
  const within = (space: string | undefined): string =>
    space === undefined || space === spaceId ? '' : `${app}/spaces/${space}`;
  const pageLink = (id: string, space: string | undefined): string => {
    const outside = within(space);
    // A page that is gone keeps its stable form, so that a later revision in which it is back links again.
    if (outside !== '' || from === undefined || relative?.tree.page(id) === undefined) return `${outside}/pages/${id}`;
    return relativePath(from, markdownPath(relative.tree, id));
  };
  return (ref) => {
    switch (ref.kind) {
      case 'url':
        return ref.url;
      case 'file':
        return `${within(ref.space)}/files/${ref.file}`;
      case 'page':
        return pageLink(ref.page, ref.space);
      case 'anchor':
        return `${ref.page === undefined ? '' : pageLink(ref.page, ref.space)}#${ref.anchor}`;
      case 'space':
        return `${app}/spaces/${ref.space}`;
      case 'collection':
        return `${app}/collections/${ref.collection}`;
      case 'user':
        return `${app}/users/${ref.user}`;
      case 'reusable-content':
        return `${within(ref.space)}/reusable-contents/${ref.reusableContent}`;
      case 'tag':
        return `${within(ref.space)}/tags/${ref.tag}`;
      case 'openapi':
        return `/openapi/${ref.spec}`;
    }
  };
};

/**
 * A page as the markdown file that it would be in a repository: front matter, the title as its heading, the body. Sent back
 * in an edit it changes nothing.
 */
export const markdownOf = (document: JSONDocument, scope: LinkScope): string => {
  const resolveRef = refWriter(scope);
  const { metadata } = scope.page;
  return serializeMarkdown(document, {
    title: metadata.title,
    frontMatter: frontMatterOf(metadata, resolveRef),
    resolveRef,
  });
};
