import { reviewEvents } from '@bindery/contracts';
import type { PublicEvent } from '@bindery/event-sourcing';
import { say } from '../../shared/say.ts';
import type { ChangeRequestEvent } from '../change-requests/index.ts';

/** What others hear of reviews: who asked whom, and who reviewed what; never what was said. */
export const reviewPublicEvents = (event: ChangeRequestEvent): readonly PublicEvent[] => {
  const { spaceId, organizationId, changeRequestId } = event.data;
  const ids = { spaceId, organizationId, changeRequestId };
  switch (event.type) {
    case 'ChangeRequestReviewersRequested': {
      const { revisionId, requestedBy, requestedAt } = event.data;
      const reviewers = event.data.reviewers.map(({ kind, id }) => ({ kind, id }));
      const facts = { ...ids, revisionId, reviewers, requestedBy, requestedAt };
      return say(reviewEvents.reviewersRequested, changeRequestId, facts);
    }
    case 'ChangeRequestReviewerRemoved': {
      const { kind, id, removedBy, removedAt } = event.data;
      return say(reviewEvents.reviewerRemoved, changeRequestId, { ...ids, kind, id, removedBy, removedAt });
    }
    case 'ChangeRequestReviewed': {
      const { reviewId, revisionId, status, comment, reviewer: reviewedBy, reviewedAt } = event.data;
      const commentId = comment === undefined ? {} : { commentId: comment.commentId };
      const facts = { ...ids, reviewId, revisionId, status, ...commentId, reviewedBy, reviewedAt };
      return say(reviewEvents.reviewed, changeRequestId, facts);
    }
    default:
      return [];
  }
};
