import type { Cache } from '@bindery/cache';
import type { LiveCollection } from '@bindery/event-sourcing';
import { createEpochCounts, type EpochCounts } from '../../shared/epoch-counts.ts';
import { type Commenter, type CommentersDeps, commentersOf } from './commenters.ts';
import type { CommentDeps, CommentsCollection } from './deps.ts';
import {
  type CommentDocument,
  commentsCollection,
  type ReplyDocument,
  repliesCollection,
} from './read-model/document.ts';
import { createReviewComments, type ReviewComments } from './review-comments.ts';
import { createCommentHandlers } from './routes/index.ts';

export { commentAggregate } from './aggregate.ts';
export type { Commenter } from './commenters.ts';
export type { CommentRepository, CommentsCollection } from './deps.ts';
export type { CommentBody, CommentEvent } from './events.ts';
export { commentPublicEvents } from './public-events.ts';
export { purgeComments } from './purge-comments.ts';
export { commentersProjection } from './read-model/commenters.ts';
export { commentsProjection } from './read-model/projection.ts';
export type { ReviewComments } from './review-comments.ts';

/** The live read model of comments, for reading. */
export const openComments = (live: LiveCollection): CommentsCollection => live<CommentDocument>(commentsCollection);

/** How many comments of a space or change request are open, from the read store. @param place its id */
export const countOpenComments = (comments: CommentsCollection, place: string): Promise<number> =>
  comments.count({ place, status: 'open' });

/** Open comments of change requests, by their id, kept in the cache. */
export const createOpenComments = (cache: Cache, comments: CommentsCollection): EpochCounts<number> =>
  createEpochCounts({ cache, name: 'content:open-comments', count: (id) => countOpenComments(comments, id) });

/** Comments and replies on spaces and change requests. */
export interface CommentsFeature {
  readonly handlers: ReturnType<typeof createCommentHandlers>;
  /** For reviews. */
  readonly reviews: ReviewComments;
  /** Who took part in the discussion of a change request or space, by its id. */
  commenters(place: string): Promise<readonly Commenter[]>;
}

export const createCommentsFeature = (given: Omit<CommentDeps, 'replies'> & CommentersDeps): CommentsFeature => {
  const { live, ...rest } = given;
  const deps: CommentDeps = { ...rest, replies: live<ReplyDocument>(repliesCollection) };
  return {
    handlers: createCommentHandlers(deps),
    reviews: createReviewComments(deps),
    commenters: (place) => commentersOf(given, place),
  };
};
