import type { ChangeRequestReview, reviewOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import type { Where } from '@bindery/read-store';
import {
  conflict,
  type HandlersFor,
  listIdentity,
  membershipIn,
  notFound,
  type OperationContext,
  paginate,
} from '@bindery/service-kit';
import { expectedRevision } from '../../change-requests/index.ts';
import type { ReviewDeps } from '../deps.ts';
import { type Located, locate } from '../located.ts';
import { presentReview, reviewLocation } from '../present.ts';
import type { ReviewDocument } from '../read-model/document.ts';
import { reviewDocument } from '../read-model/projection.ts';

type Handlers = HandlersFor<typeof reviewOperations>;

const present = async (
  deps: ReviewDeps,
  context: OperationContext,
  located: Located,
  documents: readonly ReviewDocument[],
  format?: 'document' | 'markdown',
): Promise<ChangeRequestReview[]> => {
  const { found, space } = located;
  const ids = documents.flatMap(({ commentId }) => commentId ?? []);
  const place = { spaceId: space.id, changeRequestId: found.id, access: located };
  const comments = ids.length === 0 ? undefined : await deps.comments.present(context, place, ids, format);
  return documents.map((document) => {
    const comment = document.commentId === undefined ? undefined : comments?.get(document.commentId);
    return presentReview(context.baseUrl, document, found.document.revision, comment);
  });
};

/** GET .../reviews: the newest first, filtered and paged in the store. */
export const getReviews =
  (deps: ReviewDeps): Handlers['getReviewsByChangeRequestId'] =>
  async (context, { params, query }) => {
    const located = await locate(deps, context, params, 'view');
    const { id: changeRequestId, document } = located.found;
    const { outdated, format, ...paging } = query;
    const where: Where = {
      changeRequestId,
      ...(outdated === undefined ? {} : { revisionId: outdated ? { ne: document.revision } : document.revision }),
    };
    const { items, ...rest } = await paginate(
      deps.reviews,
      listIdentity('getReviewsByChangeRequestId', { changeRequestId, outdated }),
      { where, orderBy: [{ field: 'createdAt', direction: 'desc' }] },
      paging,
      deps.cursors,
    );
    const documents = items.map((item) => item.document);
    return { status: 200, body: { ...rest, items: await present(deps, context, located, documents, format) } };
  };

/** GET .../reviews/{reviewId} */
export const getReview =
  (deps: ReviewDeps): Handlers['getChangeRequestReviewById'] =>
  async (context, { params, query }) => {
    const located = await locate(deps, context, params, 'view');
    const stored = await deps.reviews.get(params.reviewId);
    if (stored?.document.changeRequestId !== located.found.id) throw notFound('review');
    const [body] = await present(deps, context, located, [stored.document], query.format);
    if (body === undefined) throw notFound('review');
    return { status: 200, body };
  };

/**
 * POST .../reviews: of the revision that is current when the review is recorded. Its comment is recorded with it, and posted
 * after it; a reactor posts it when this process was cut off in between.
 */
export const submitReview =
  (deps: ReviewDeps): Handlers['submitChangeRequestReview'] =>
  async (context, { params, body, ifMatch }) => {
    const located = await locate(deps, context, params, 'review');
    const { found, space } = located;
    const { organizationId } = space;
    const [reviewId, commentId] = [context.ids.id(), context.ids.id()];
    const said = body.comment === undefined ? undefined : deps.comments.read(body.comment, 'body.comment');
    const expected = expectedRevision(ifMatch);
    const reviewer = context.principal.id;
    const handled = await deps.repository.handle(
      found.id,
      {
        type: 'SubmitReview',
        data: {
          reviewId,
          status: body.status,
          reviewer,
          teams: membershipIn(context.principal, organizationId)?.teams ?? [],
          ...(said === undefined ? {} : { comment: { commentId, body: said } }),
          reviewedAt: context.now.toISOString(),
        },
      },
      commandMetadata(context, organizationId),
      expected === undefined ? {} : { expectedRevision: expected },
    );
    const event = handled.events.find((it) => it.type === 'ChangeRequestReviewed');
    const document = event === undefined ? (await deps.reviews.get(reviewId))?.document : reviewDocument(event.data);
    if (document === undefined || handled.state.status === 'none')
      throw conflict('review.busy', 'The review is not there yet; read the reviews of the change request.');
    if (said !== undefined)
      await deps.comments.post(context, {
        ...{ spaceId: space.id, organizationId, changeRequestId: found.id, reviewId, commentId },
        revision: document.revisionId,
        body: said,
      });
    const now = { ...found, document: { ...found.document, revision: handled.state.revision } };
    const [review] = await present(deps, context, { ...located, found: now }, [document]);
    if (review === undefined) throw notFound('review');
    return { status: 201, body: review, location: reviewLocation(context.baseUrl, space.id, found.id, reviewId) };
  };
