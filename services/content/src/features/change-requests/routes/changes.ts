import { type contentChangeOperations, limits } from '@bindery/contracts';
import { type HandlersFor, notFound } from '@bindery/service-kit';
import { emptyTree } from '../../revisions/index.ts';
import type { ChangeRequestRouteDeps } from '../deps.ts';
import { presentChangeRequest } from '../present.ts';
import { semanticChanges } from '../semantic-changes.ts';
import { type LocateDeps, locate } from './located.ts';

type Handlers = HandlersFor<typeof contentChangeOperations>;
type Deps = ChangeRequestRouteDeps & LocateDeps;

const sourcesFor = (deps: Deps, baseUrl: string, spaceId: string) => ({
  documents: (ids: readonly string[]) => deps.reader.documents(spaceId, ids),
  presentFile: (file: Parameters<Deps['fileLinks']['represent']>[2]) =>
    deps.fileLinks.represent(baseUrl, spaceId, file),
});

/** GET .../change-requests/{changeRequestId}/changes: what the branch changes of what it is based on. */
export const getChangeRequestChanges =
  (deps: Deps): Handlers['getChangeRequestChanges'] =>
  async (context, { params, query }) => {
    const { found } = await locate(deps, context, params, 'view');
    const { spaceId } = params;
    const { revision, revisionInitial, revisionMergedAncestor = revisionInitial } = found.document;
    const appended = { changeRequestId: found.id };
    const [from, to] = await Promise.all([
      deps.reader.tree(spaceId, revisionMergedAncestor, appended),
      deps.reader.tree(spaceId, revision, appended),
    ]);
    const sources = { from, to, ...sourcesFor(deps, context.baseUrl, spaceId) };
    return { status: 200, body: await semanticChanges(sources, query.limit ?? limits.changeList.default) };
  };

/** GET .../revisions/{revisionId}/changes: what a revision changed of its first parent. */
export const getRevisionSemanticChanges =
  (deps: Deps): Handlers['getRevisionSemanticChanges'] =>
  async (context, { params, query }) => {
    const { spaceId, revisionId } = params;
    const { space } = await deps.access.space(context, spaceId, 'view');
    const info = await deps.reader.info(spaceId, revisionId);
    if (info === undefined) throw notFound('revision');
    const [parent] = info.parents;
    const [from, to, source] = await Promise.all([
      parent === undefined ? emptyTree : deps.reader.tree(spaceId, parent),
      deps.reader.tree(spaceId, revisionId),
      info.mergedFrom === undefined ? undefined : deps.lookup.find(spaceId, info.mergedFrom),
    ]);
    const sources = { from, to, ...sourcesFor(deps, context.baseUrl, spaceId) };
    const listed = await semanticChanges(sources, query.limit ?? limits.changeList.default);
    const comments = source === undefined ? 0 : await deps.openComments.of(source.id);
    const mergedFrom = source && presentChangeRequest(context.baseUrl, source.document, space.revision, comments);
    return { status: 200, body: { ...listed, ...(mergedFrom ? { mergedFrom } : {}) } };
  };
