import type { reviewOperations } from '@bindery/contracts';
import type { HandlersFor } from '@bindery/service-kit';
import type { ReviewDeps } from '../deps.ts';
import { getRequestedReviewers, removeRequestedReviewer, requestReviewers } from './requested.ts';
import { getReview, getReviews, submitReview } from './reviews.ts';

/** The operations on reviews and requested reviewers. */
export const createReviewHandlers = (deps: ReviewDeps): HandlersFor<typeof reviewOperations> => ({
  getRequestedReviewersByChangeRequestId: getRequestedReviewers(deps),
  requestReviewersForChangeRequest: requestReviewers(deps),
  removeRequestedReviewerFromChangeRequest: removeRequestedReviewer(deps),
  getReviewsByChangeRequestId: getReviews(deps),
  submitChangeRequestReview: submitReview(deps),
  getChangeRequestReviewById: getReview(deps),
});
