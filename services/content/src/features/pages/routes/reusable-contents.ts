import type { pageOperations } from '@bindery/contracts';
import { type HandlersFor, notFound, type OperationContext } from '@bindery/service-kit';
import type { Locate, RevisionParams } from '../locate.ts';
import { presentReusableContent } from '../present.ts';
import { bodyFor } from '../transform.ts';

/** Handlers of the reads of reusable contents. */
export const createReusableContentHandlers = (
  locate: Locate,
): Pick<
  HandlersFor<typeof pageOperations>,
  | 'getReusableContentById'
  | 'getReusableContentInRevisionById'
  | 'getReusableContentInChangeRequestById'
  | 'getReusableContentDocumentInRevisionById'
> => {
  const get = async (
    context: OperationContext,
    { params }: { params: RevisionParams & { reusableContentId: string } },
  ) => {
    const { tree, revisionId } = await locate.tree(context, params);
    const content = tree.reusableContent(params.reusableContentId);
    if (content === undefined) throw notFound('reusable content');
    return { status: 200 as const, body: presentReusableContent(content), etag: revisionId };
  };
  return {
    getReusableContentById: get,
    getReusableContentInRevisionById: get,
    getReusableContentInChangeRequestById: get,
    async getReusableContentDocumentInRevisionById(context, { params, query }) {
      const { spaceId, tree, revisionId } = await locate.tree(context, params);
      const documentId = tree.reusableContent(params.reusableContentId)?.documentId;
      if (documentId === undefined) throw notFound('reusable content');
      const stored = (await locate.reader.documents(spaceId, [documentId])).get(documentId);
      if (stored === undefined) throw notFound('document');
      const body = await bodyFor(stored, query, { spaceId, tree, reader: locate.reader });
      return { status: 200, body, etag: revisionId };
    },
  };
};
