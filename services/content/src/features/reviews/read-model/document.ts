import type { CollectionSpec } from '@bindery/read-store';
import type { ReviewStatus } from '../../change-requests/index.ts';

/** A review as stored for reading. Whether it is outdated depends on the revision of its change request. */
export interface ReviewDocument {
  readonly id: string;
  readonly spaceId: string;
  readonly changeRequestId: string;
  readonly revisionId: string;
  readonly reviewer: string;
  readonly requestedBy?: string;
  readonly status: ReviewStatus;
  readonly commentId?: string;
  readonly createdAt: string;
}

/** Somebody who was asked for a review, as stored for reading. */
export interface RequestedReviewerDocument {
  readonly id: string;
  readonly changeRequestId: string;
  readonly kind: 'user' | 'team';
  readonly subjectId: string;
  readonly revisionId: string;
  readonly requestedBy: string;
  readonly createdAt: string;
}

/** Ids hold no dot. */
export const requestedReviewerId = (changeRequestId: string, kind: 'user' | 'team', id: string): string =>
  `${changeRequestId}.${kind}.${id}`;

export const reviewsCollection: CollectionSpec = {
  name: 'content.reviews',
  version: 1,
  indexes: [
    { name: 'by_change_request', fields: ['changeRequestId', 'createdAt'] },
    { name: 'by_revision', fields: ['changeRequestId', 'revisionId', 'createdAt'] },
  ],
};

export const requestedReviewersCollection: CollectionSpec = {
  name: 'content.requested_reviewers',
  version: 1,
  indexes: [{ name: 'by_change_request', fields: ['changeRequestId', 'createdAt'] }],
};
