import type { ChangeRequestRequestedReviewer, ChangeRequestReview, Comment } from '@bindery/contracts';
import { changeRequestLocation } from '../change-requests/index.ts';
import type { RequestedReviewerDocument, ReviewDocument } from './read-model/document.ts';

/** Address of a review in the API. */
export const reviewLocation = (baseUrl: string, spaceId: string, changeRequestId: string, id: string): string =>
  `${changeRequestLocation(baseUrl, spaceId, changeRequestId)}/reviews/${id}`;

/**
 * A review as clients see it (gaps-filled section 10). A review never changes; whoever changes its mind reviews again.
 * @param revision newest revision of the change request
 */
export const presentReview = (
  baseUrl: string,
  document: ReviewDocument,
  revision: string,
  comment: Comment | undefined,
): ChangeRequestReview => ({
  object: 'change-request-review',
  id: document.id,
  revision: document.revisionId,
  reviewer: document.reviewer,
  ...(document.requestedBy === undefined ? {} : { requestedBy: document.requestedBy }),
  status: document.status,
  outdated: document.revisionId !== revision,
  ...(comment === undefined ? {} : { comment }),
  createdAt: document.createdAt,
  updatedAt: document.createdAt,
  urls: { location: reviewLocation(baseUrl, document.spaceId, document.changeRequestId, document.id) },
});

/** Somebody who was asked, as clients see it (gaps-filled section 10). */
export const presentRequested = (document: RequestedReviewerDocument): ChangeRequestRequestedReviewer => {
  const { kind, subjectId, revisionId: revision, requestedBy, createdAt } = document;
  const request = { object: 'change-request-requested-reviewer' as const, revision, requestedBy, createdAt };
  return kind === 'user'
    ? { ...request, kind, user: subjectId }
    : { ...request, kind, team: { object: 'team', id: subjectId } };
};
