import type { Collection } from '@bindery/read-store';
import type { CursorCodec, ServiceClient } from '@bindery/service-kit';
import type { Access } from '../access/index.ts';
import type { ChangeRequestLookup, ChangeRequestRepository } from '../change-requests/index.ts';
import type { CommentRepository, ReviewComments } from '../comments/index.ts';
import type { LevelsOfMembers } from '../permissions/index.ts';
import type { RequestedReviewerDocument, ReviewDocument } from './read-model/document.ts';

/** The live read models, for reading. */
export type ReviewsCollection = Pick<Collection<ReviewDocument>, 'get' | 'query' | 'count'>;
export type RequestedReviewersCollection = Pick<Collection<RequestedReviewerDocument>, 'get' | 'query' | 'count'>;

/** What reviews work with. */
export interface ReviewDeps {
  readonly access: Access;
  readonly repository: ChangeRequestRepository;
  readonly changeRequests: Pick<ChangeRequestLookup, 'find'>;
  readonly reviews: ReviewsCollection;
  readonly requested: RequestedReviewersCollection;
  readonly comments: ReviewComments;
  readonly cursors: CursorCodec;
  readonly services: ServiceClient;
  readonly levelsOf: LevelsOfMembers;
}

/** What the reactor that posts comments left behind works with. */
export interface LeftCommentsDeps {
  readonly repository: CommentRepository;
  readonly counts: { changeRequest(changeRequestId: string): Promise<void> };
}
