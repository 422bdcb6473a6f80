import type { JSONDocument, pageOperations, RevisionPage } from '@bindery/contracts';
import { type HandlersFor, notFound, type OperationContext } from '@bindery/service-kit';
import type { PageNode } from '../../revisions/index.ts';
import { computedTag } from '../computed.ts';
import type { Locate, LocatedRevision, RevisionParams } from '../locate.ts';
import { type LinkStyle, markdownOf } from '../markdown.ts';
import { normalisedPath } from '../paths.ts';
import { type PageScope, presentPage, presentPages } from '../present.ts';
import { type BodyOptions, bodyFor } from '../transform.ts';

interface PageQuery extends BodyOptions {
  readonly format?: 'document' | 'markdown';
  readonly 'format.markdown.refs'?: LinkStyle;
  readonly computed?: boolean | undefined;
}

const emptyDocument: JSONDocument = { object: 'document', data: {}, nodes: [] };

/** The body of a document page, untouched. */
const storedBody = async (locate: Locate, spaceId: string, documentId: string | undefined): Promise<JSONDocument> => {
  if (documentId === undefined) return emptyDocument;
  const found = (await locate.reader.documents(spaceId, [documentId])).get(documentId);
  if (found === undefined) throw notFound('document');
  return found;
};

const withBody = async (
  locate: Locate,
  scope: PageScope & LocatedRevision,
  page: PageNode,
  query: PageQuery,
): Promise<RevisionPage> => {
  const shown = presentPage(scope, page);
  if (shown.type !== 'document') return shown;
  const { baseUrl, spaceId, tree } = scope;
  const stored = await storedBody(locate, spaceId, page.documentId);
  const document = await bodyFor(stored, query, { spaceId, tree, reader: locate.reader, page });
  if (query.format === 'document') return { ...shown, document };
  const style = query['format.markdown.refs'] ?? 'relative';
  return { ...shown, markdown: markdownOf(document, { baseUrl, spaceId, tree, page, style }) };
};

/** Handlers of everything that reads pages and their documents, save reusable contents. */
export const createPageHandlers = (
  locate: Locate,
): Omit<HandlersFor<typeof pageOperations>, `getReusable${string}`> => {
  const list = async (
    context: OperationContext,
    { params, query }: { params: RevisionParams; query: { readonly computed?: boolean | undefined } },
  ) => {
    const scope = await locate.tree(context, params);
    const computed = query.computed === false ? undefined : await scope.computed();
    const pages = [...presentPages(scope), ...(computed === undefined ? [] : [computed])];
    return { status: 200 as const, body: { pages }, etag: computedTag(scope.revisionId, computed) };
  };
  const byId = async (
    context: OperationContext,
    { params, query }: { params: RevisionParams & { pageId: string }; query: PageQuery },
  ) => {
    const scope = await locate.tree(context, params);
    const page = scope.tree.page(params.pageId);
    if (page === undefined) {
      const computed = query.computed === false ? undefined : await scope.computed();
      if (computed?.id !== params.pageId) throw notFound('page');
      return { status: 200 as const, body: computed, etag: computedTag(scope.revisionId, computed) };
    }
    return { status: 200 as const, body: await withBody(locate, scope, page, query), etag: scope.revisionId };
  };
  const byPath = async (
    context: OperationContext,
    { params, query }: { params: RevisionParams & { pagePath: string }; query: PageQuery },
  ) => {
    const scope = await locate.tree(context, params);
    const page = scope.tree.byPath(normalisedPath(params.pagePath));
    const body = page && (await withBody(locate, scope, page, query));
    if (body === undefined || body.type === 'link' || body.type === 'computed') throw notFound('page');
    return { status: 200 as const, body, etag: scope.revisionId };
  };

  return {
    listPages: list,
    listPagesInRevisionById: list,
    listPagesInChangeRequest: list,
    getPageById: byId,
    getPageInRevisionById: byId,
    getPageInChangeRequestById: byId,
    getPageByPath: byPath,
    getPageInRevisionByPath: byPath,
    getPageInChangeRequestByPath: byPath,
    async getPageDocumentInRevisionById(context, { params, query }) {
      const { spaceId, tree, revisionId } = await locate.tree(context, params);
      const page = tree.page(params.pageId);
      if (page?.type !== 'document') throw notFound('page');
      const stored = await storedBody(locate, spaceId, page.documentId);
      const body = await bodyFor(stored, query, { spaceId, tree, reader: locate.reader, page });
      return { status: 200, body, etag: revisionId };
    },
    async getDocumentById(context, { params }) {
      const { spaceId } = await locate.revision(context, { spaceId: params.spaceId });
      return { status: 200, body: await storedBody(locate, spaceId, params.documentId), etag: params.documentId };
    },
  };
};
