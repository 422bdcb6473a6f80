import type { Comment, DocumentInput } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import type { OperationContext } from '@bindery/service-kit';
import type { SpaceAccess } from '../access/index.ts';
import { countsAfter } from './answer.ts';
import { type BodyFormat, readCommentBody } from './body.ts';
import type { CommentDeps } from './deps.ts';
import type { CommentBody } from './events.ts';
import { presentComment } from './present.ts';
import { placeOf } from './read-model/document.ts';

/** The comments that come with reviews. They are comments of the change request like others, with `target.review`. */
export interface ReviewComments {
  /**
   * Reads a body before anything is written. @param field for messages: `body.comment`
   * @throws Problem invalid
   */
  read(input: DocumentInput, field: string): CommentBody;
  /**
   * Posts the comment of a review. Repeated with the same id and context it posts nothing more. The caller has checked that
   * the reviewer may review.
   * @param review.commentId made by the caller, so that the review's own event can name it
   * @param review.revision the revision that was reviewed
   */
  post(
    context: OperationContext,
    review: {
      readonly spaceId: string;
      readonly organizationId: string;
      readonly changeRequestId: string;
      readonly reviewId: string;
      readonly commentId: string;
      readonly revision: string;
      readonly body: CommentBody;
    },
  ): Promise<void>;
  /** Comments of a change request as the caller sees them, by id; those that were deleted are absent. At most 1000. */
  present(
    context: OperationContext,
    place: { readonly spaceId: string; readonly changeRequestId: string; readonly access: SpaceAccess },
    commentIds: readonly string[],
    format?: BodyFormat,
  ): Promise<ReadonlyMap<string, Comment>>;
}

export const createReviewComments = (deps: CommentDeps): ReviewComments => ({
  read: readCommentBody,
  async post(context, { organizationId, reviewId, commentId, revision, body, ...place }) {
    const handled = await deps.repository.handle(
      commentId,
      {
        type: 'PostComment',
        data: {
          ...place,
          organizationId,
          commentId,
          target: { revision, reviewId },
          body,
          postedBy: context.principal.id,
          postedAt: context.now.toISOString(),
        },
      },
      commandMetadata(context, organizationId),
      { likelyNew: true },
    );
    await countsAfter(deps, place, handled);
  },
  async present(context, { spaceId, changeRequestId, access }, commentIds, format = 'markdown') {
    const found = await deps.comments.getMany([...new Set(commentIds)]);
    const key = placeOf(spaceId, changeRequestId);
    const view = { context, format, place: { spaceId, changeRequestId, permissions: access.permissions } };
    const shown = new Map<string, Comment>();
    for (const [id, { document }] of found) if (document.place === key) shown.set(id, presentComment(view, document));
    return shown;
  },
});
