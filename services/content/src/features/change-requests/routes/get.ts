import type { changeRequestOperations } from '@bindery/contracts';
import type { HandlersFor } from '@bindery/service-kit';
import { answerChangeRequest } from '../answer.ts';
import type { ChangeRequestRouteDeps } from '../deps.ts';
import { type LocateDeps, locate } from './located.ts';

/** GET /spaces/{spaceId}/change-requests/{changeRequestId} */
export const getChangeRequestById =
  (
    deps: LocateDeps & Pick<ChangeRequestRouteDeps, 'openComments' | 'imports'>,
  ): HandlersFor<typeof changeRequestOperations>['getChangeRequestById'] =>
  async (context, { params }) => {
    const { found, space } = await locate(deps, context, params, 'view');
    const at = { document: found.document, streamRevision: found.revision };
    const [comments, imports] = await Promise.all([
      deps.openComments.of(found.id),
      deps.imports(context.baseUrl, space.id, found.id),
    ]);
    const { body, etag } = answerChangeRequest(context.baseUrl, at, space.revision, comments);
    return { status: 200, body: imports.length === 0 ? body : { ...body, imports }, etag };
  };

/** GET /spaces/{spaceId}/change-requests/{changeRequestId}/contributors */
export const getContributors =
  (
    deps: LocateDeps & Pick<ChangeRequestRouteDeps, 'commenters'>,
  ): HandlersFor<typeof changeRequestOperations>['getContributorsByChangeRequestId'] =>
  async (context, { params }) => {
    const { found } = await locate(deps, context, params, 'view');
    const commenters = await deps.commenters(found.id);
    const items = [
      ...found.document.contributions.map((it) => ({ ...it, actionType: 'edit' as const })),
      ...commenters.map((it) => ({ ...it, actionType: 'comment' as const })),
    ];
    return { status: 200, body: { items, count: items.length } };
  };
