import type { ChangeRequest, GitSyncBlob, Revision, RevisionFile, revisionOperations } from '@bindery/contracts';
import type { HandlersFor, OperationContext } from '@bindery/service-kit';
import type { FileNode } from '../../revisions/index.ts';
import { computedTag } from '../computed.ts';
import type { Locate, RevisionParams } from '../locate.ts';
import { presentPages, presentReusableContent } from '../present.ts';

export interface RevisionRouteDeps {
  readonly locate: Locate;
  readonly presentFile: (baseUrl: string, spaceId: string, file: FileNode) => RevisionFile;
  /** What revisions show of their repository. */
  readonly git: {
    ofRevision(spaceId: string, revisionId: string): Promise<Revision['git']>;
    blobs(spaceId: string): Promise<((id: string) => GitSyncBlob | undefined) | undefined>;
  };
  /** A change request as clients see it. */
  readonly changeRequest: (
    context: OperationContext,
    spaceId: string,
    changeRequestId: string,
  ) => Promise<ChangeRequest | undefined>;
}

/** Adds the file of the repository, where there is one. */
const withBlob = <T extends { readonly id: string }>(
  shown: T,
  blobs: ((id: string) => GitSyncBlob | undefined) | undefined,
): T & { git?: GitSyncBlob } => {
  const git = blobs?.(shown.id);
  return git === undefined ? shown : { ...shown, git };
};

/** Handlers of the reads of whole revisions (resources section 25). */
export const createRevisionHandlers = (deps: RevisionRouteDeps): HandlersFor<typeof revisionOperations> => {
  const { locate, presentFile, changeRequest, git } = deps;
  const get = async (
    context: OperationContext,
    {
      params,
      query,
    }: {
      params: RevisionParams;
      query: { readonly metadata?: boolean | undefined; readonly computed?: boolean | undefined };
    },
  ) => {
    const { baseUrl } = context;
    const located = await locate.tree(context, params);
    const shown = query.metadata !== false;
    const blobs = shown ? await git.blobs(located.spaceId) : undefined;
    const scope = { ...located, ...(blobs === undefined ? {} : { blobs }) };
    const { spaceId, revisionId, tree } = scope;
    const info = await locate.info(spaceId, revisionId);
    const commit = shown ? await git.ofRevision(spaceId, revisionId) : undefined;
    const merged = info.mergedFrom === undefined ? undefined : await changeRequest(context, spaceId, info.mergedFrom);
    const computed = query.computed === false ? undefined : await located.computed();
    const body = {
      object: 'revision' as const,
      id: revisionId,
      parents: [...info.parents],
      pages: [...presentPages(scope), ...(computed === undefined ? [] : [computed])],
      files: [...tree.files()].map((file) => withBlob(presentFile(baseUrl, spaceId, file), blobs)),
      reusableContents: [...tree.reusableContents()].map((content) => withBlob(presentReusableContent(content), blobs)),
      tags: [],
      ...(Object.keys(tree.variables).length > 0 ? { variables: { ...tree.variables } } : {}),
      createdAt: info.createdAt,
      urls: { app: `${baseUrl}/app/spaces/${spaceId}/revisions/${revisionId}` },
      type: info.type,
      ...(merged === undefined ? {} : { mergedFrom: merged }),
      ...(commit === undefined ? {} : { git: commit }),
    };
    // What is shown of the repository changes while the revision stays.
    const etag = commit === undefined ? revisionId : `${revisionId}-${commit.oid.slice(0, 12)}`;
    return { status: 200 as const, body, etag: computedTag(etag, computed) };
  };
  return { getCurrentRevision: get, getRevisionById: get, getRevisionOfChangeRequestById: get };
};
