import type { LiveCollection } from '@bindery/event-sourcing';
import type { ReviewDeps } from './deps.ts';
import {
  type RequestedReviewerDocument,
  type ReviewDocument,
  requestedReviewersCollection,
  reviewsCollection,
} from './read-model/document.ts';
import { createReviewHandlers } from './routes/index.ts';

export type { LeftCommentsDeps } from './deps.ts';
export { postReviewComments } from './post-comments.ts';
export { reviewPublicEvents } from './public-events.ts';
export { reviewsProjection } from './read-model/projection.ts';

/** Reviews of change requests and who is asked for them. Their events stand in the streams of change requests. */
export const createReviewsFeature = ({
  live,
  ...given
}: Omit<ReviewDeps, 'reviews' | 'requested'> & { readonly live: LiveCollection }) => ({
  handlers: createReviewHandlers({
    ...given,
    reviews: live<ReviewDocument>(reviewsCollection),
    requested: live<RequestedReviewerDocument>(requestedReviewersCollection),
  }),
});
