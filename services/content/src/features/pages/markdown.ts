import type { ContentRef, JSONDocument } from '@bindery/contracts';
import { relativePath, serializeMarkdown } from '@bindery/documents';
import type { PageNode, Tree } from '../revisions/index.ts';
import { markdownPath } from './paths.ts';

/** How links are written: from page to page, or by id. */
export type LinkStyle = 'relative' | 'stable';

/**
 * How references are written in markdown. Edits read all of these back: relative paths as `markdownPath` forms them,
 * `/pages/<id>`, `/files/<id>` and so on by id, `/spaces/<id>/pages/<id>` for what is in another space.
 */
export const refWriter = (scope: {
  readonly spaceId: string;
  readonly tree: Tree;
  /** The page whose markdown it is; without one every link is stable. */
  readonly page?: PageNode;
  readonly style: LinkStyle;
}): ((ref: ContentRef) => string) => {
  const { spaceId, tree, page, style } = scope;
  const from = page === undefined || style === 'stable' ? undefined : markdownPath(tree, page.id);
  const within = (space: string | undefined): string =>
    space === undefined || space === spaceId ? '' : `/spaces/${space}`;
  const pageLink = (id: string, space: string | undefined): string => {
    const outside = within(space);
    // A page that is gone keeps its stable form, so that a later revision in which it is back links again.
    if (outside !== '' || from === undefined || tree.page(id) === undefined) return `${outside}/pages/${id}`;
    return relativePath(from, markdownPath(tree, id));
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
        return `/spaces/${ref.space}`;
      case 'collection':
        return `/collections/${ref.collection}`;
      case 'user':
        return `/users/${ref.user}`;
      case 'reusable-content':
        return `${within(ref.space)}/reusable-content/${ref.reusableContent}`;
      case 'tag':
        return `${within(ref.space)}/tags/${ref.tag}`;
      case 'openapi':
        return `/openapi/${ref.spec}`;
    }
  };
};

/**
 * The body of a page as markdown. The title is a field of the page and not part of it; only a body that itself begins
 * with a first-level heading gets the title's line before it, since that is where a reader looks for the title.
 */
export const markdownOf = (document: JSONDocument, scope: Parameters<typeof refWriter>[0]): string => {
  const [first] = document.nodes;
  const ambiguous = first?.type.startsWith('heading-') === true && Object(first.data).level === 1;
  return serializeMarkdown(document, {
    resolveRef: refWriter(scope),
    ...(ambiguous && scope.page !== undefined ? { title: scope.page.metadata.title } : {}),
  });
};
