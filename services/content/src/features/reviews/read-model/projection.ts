import type { DomainEvent, Projection, ProjectionWrite, Recorded } from '@bindery/event-sourcing';
import { type ChangeRequestEvent, changeRequestAggregate } from '../../change-requests/index.ts';
import {
  type RequestedReviewerDocument,
  type ReviewDocument,
  requestedReviewerId,
  requestedReviewersCollection,
  reviewsCollection,
} from './document.ts';

type Of<T extends ChangeRequestEvent['type']> = Extract<ChangeRequestEvent, { type: T }>['data'];

/** A review as it is after it was submitted: nothing changes it. */
export const reviewDocument = (data: Of<'ChangeRequestReviewed'>): ReviewDocument => ({
  id: data.reviewId,
  spaceId: data.spaceId,
  changeRequestId: data.changeRequestId,
  revisionId: data.revisionId,
  reviewer: data.reviewer,
  ...(data.requestedBy === undefined ? {} : { requestedBy: data.requestedBy }),
  status: data.status,
  ...(data.comment === undefined ? {} : { commentId: data.comment.commentId }),
  createdAt: data.reviewedAt,
});

/** Those who are asked by one event. */
export const requestedDocuments = (data: Of<'ChangeRequestReviewersRequested'>): readonly RequestedReviewerDocument[] =>
  data.reviewers.map(({ kind, id }) => ({
    id: requestedReviewerId(data.changeRequestId, kind, id),
    changeRequestId: data.changeRequestId,
    kind,
    subjectId: id,
    revisionId: data.revisionId,
    requestedBy: data.requestedBy,
    createdAt: data.requestedAt,
  }));

/** `content.reviews` and `content.requested_reviewers`, from the streams of change requests. */
export const reviewsProjection: Projection = {
  name: 'reviews',
  mode: 'inline',
  aggregates: [changeRequestAggregate.name],
  handles: ['ChangeRequestReviewersRequested', 'ChangeRequestReviewerRemoved', 'ChangeRequestReviewed'],
  collections: [reviewsCollection, requestedReviewersCollection],
  async apply(event: Recorded<DomainEvent>) {
    // The runtime hands over only events of the types in `handles`.
    const fact = event as unknown as ChangeRequestEvent;
    const { revision } = event;
    switch (fact.type) {
      case 'ChangeRequestReviewersRequested':
        return requestedDocuments(fact.data).map(
          (document): ProjectionWrite => ({
            collection: requestedReviewersCollection,
            write: { kind: 'put', id: document.id, revision, document },
          }),
        );
      case 'ChangeRequestReviewerRemoved': {
        const { changeRequestId, kind, id } = fact.data;
        const write = { kind: 'remove', id: requestedReviewerId(changeRequestId, kind, id), revision } as const;
        return [{ collection: requestedReviewersCollection, write }];
      }
      case 'ChangeRequestReviewed': {
        const document = reviewDocument(fact.data);
        return [{ collection: reviewsCollection, write: { kind: 'put', id: document.id, revision, document } }];
      }
      default:
        return [];
    }
  },
};
