import type { JSONDocument } from '@bindery/contracts';
import { sections } from '@bindery/documents';
import type { SearchPage, SearchSection } from '@bindery/search';
import type { PageNode, RevisionReader, Tree } from '../revisions/index.ts';

/** Whether a page can be found: link pages and groups have no content, and `noIndex` keeps a page out of search. */
export const isSearchable = (page: PageNode): boolean => page.type === 'document' && page.metadata.noIndex !== true;

/** Headings inside a page are one level below its title; what stands above the first one has neither title nor anchor. */
const sectionsOf = (document: JSONDocument): readonly SearchSection[] =>
  sections(document, '')
    .filter(({ title, text }) => title !== '' || text !== '')
    .map(({ id, title, level, text }) => ({ id, title, level: level + 1, text }));

const ancestorsOf = (tree: Tree, page: PageNode): readonly string[] => {
  const titles: string[] = [];
  for (let id = page.parent; id !== null; ) {
    const above = tree.page(id);
    if (above === undefined) break;
    titles.push(above.metadata.title);
    id = above.parent;
  }
  return titles.reverse();
};

/** Pages of a revision as the index takes them; ones that cannot be found are left out. */
export const searchPages = async (
  source: {
    readonly spaceId: string;
    readonly organizationId: string;
    readonly tree: Tree;
    readonly reader: Pick<RevisionReader, 'documents'>;
  },
  pages: readonly PageNode[],
  revision: number,
): Promise<readonly SearchPage[]> => {
  const { spaceId, organizationId, tree, reader } = source;
  const found = pages.filter(isSearchable);
  const bodies = await reader.documents(
    spaceId,
    found.flatMap(({ documentId }) => (documentId ? [documentId] : [])),
  );
  return found.map((page) => {
    const body = page.documentId === undefined ? undefined : bodies.get(page.documentId);
    return {
      spaceId,
      organizationId,
      pageId: page.id,
      title: page.metadata.title,
      path: tree.pathOf(page.id),
      ancestors: ancestorsOf(tree, page),
      description: page.metadata.description ?? '',
      sections: body === undefined ? [] : sectionsOf(body),
      revision,
    };
  });
};
