import type { ChangeRequest, RevisionFile, revisionOperations } from '@bindery/contracts';
import type { HandlersFor, OperationContext } from '@bindery/service-kit';
import type { FileNode } from '../../revisions/index.ts';
import type { Locate, RevisionParams } from '../locate.ts';
import { presentPages, presentReusableContent } from '../present.ts';

export interface RevisionRouteDeps {
  readonly locate: Locate;
  readonly presentFile: (baseUrl: string, spaceId: string, file: FileNode) => RevisionFile;
  /** A change request as clients see it. */
  readonly changeRequest: (
    context: OperationContext,
    spaceId: string,
    changeRequestId: string,
  ) => Promise<ChangeRequest | undefined>;
}

/** Handlers of the reads of whole revisions (resources section 25). */
export const createRevisionHandlers = (deps: RevisionRouteDeps): HandlersFor<typeof revisionOperations> => {
  const { locate, presentFile, changeRequest } = deps;
  const get = async (context: OperationContext, { params }: { params: RevisionParams }) => {
    const { baseUrl } = context;
    const scope = await locate.tree(context, params);
    const { spaceId, revisionId, tree } = scope;
    const info = await locate.info(spaceId, revisionId);
    const merged = info.mergedFrom === undefined ? undefined : await changeRequest(context, spaceId, info.mergedFrom);
    const body = {
      object: 'revision' as const,
      id: revisionId,
      parents: [...info.parents],
      pages: presentPages(scope),
      files: [...tree.files()].map((file) => presentFile(baseUrl, spaceId, file)),
      reusableContents: [...tree.reusableContents()].map(presentReusableContent),
      tags: [],
      ...(Object.keys(tree.variables).length > 0 ? { variables: { ...tree.variables } } : {}),
      createdAt: info.createdAt,
      urls: { app: `${baseUrl}/app/spaces/${spaceId}/revisions/${revisionId}` },
      type: info.type,
      ...(merged === undefined ? {} : { mergedFrom: merged }),
    };
    return { status: 200 as const, body, etag: revisionId };
  };
  return { getCurrentRevision: get, getRevisionById: get, getRevisionOfChangeRequestById: get };
};
