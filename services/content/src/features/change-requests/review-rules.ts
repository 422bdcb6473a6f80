import { type JSONDocument, limits } from '@bindery/contracts';
import { conflict } from '@bindery/service-kit';
import type { ChangeRequestEvent, ReviewStatus, ReviewSubject } from './events.ts';

// Reviews stand in the stream of their change request, so that a merge is decided with all of them before it (ADR 16).

/** Asks for reviews of the current revision. */
export interface RequestReviewers {
  readonly type: 'RequestReviewers';
  readonly data: {
    readonly subjects: readonly ReviewSubject[];
    /** Set on the change request in the same append. */
    readonly subject?: string;
    readonly description?: JSONDocument;
    readonly requestedBy: string;
    readonly requestedAt: string;
  };
}

/** Asks a user or team no longer. Reviews that were given stay. */
export interface RemoveReviewer {
  readonly type: 'RemoveReviewer';
  readonly data: { readonly id: string; readonly removedBy: string; readonly removedAt: string };
}

/** A review of the revision that is current when it is decided. Who may review is decided before. */
export interface SubmitReview {
  readonly type: 'SubmitReview';
  readonly data: {
    readonly reviewId: string;
    readonly status: ReviewStatus;
    readonly reviewer: string;
    /** Its teams: the review answers a request to one of them, too. */
    readonly teams: readonly string[];
    readonly comment?: {
      readonly commentId: string;
      readonly body: { readonly document: JSONDocument; readonly markdown?: string };
    };
    readonly reviewedAt: string;
  };
}

export type ReviewCommand = RequestReviewers | RemoveReviewer | SubmitReview;

/** Somebody who was asked. */
export interface Requested extends ReviewSubject {
  readonly revisionId: string;
  readonly requestedBy: string;
}

/** The latest review of somebody. */
export interface LatestReview {
  readonly reviewId: string;
  readonly revisionId: string;
  readonly status: ReviewStatus;
}

/** What decisions need to know of reviews. */
export interface Reviewing {
  /** By `keyOf`; at most `limits.review.requestedReviewers`. */
  readonly requested: ReadonlyMap<string, Requested>;
  /** By reviewer. */
  readonly latest: ReadonlyMap<string, LatestReview>;
}

export const noReviews: Reviewing = { requested: new Map(), latest: new Map() };

const keyOf = ({ kind, id }: ReviewSubject): string => `${kind}:${id}`;

/** What of a change request these decisions look at. */
interface Reviewed extends Reviewing {
  readonly revision: string;
}
type Ids = { readonly spaceId: string; readonly organizationId: string; readonly changeRequestId: string };

/** @throws Problem conflict when more would be asked than may be */
export const requestReviewers = (
  { data: { subjects, requestedBy, requestedAt } }: RequestReviewers,
  state: Reviewed,
  ids: Ids,
): readonly ChangeRequestEvent[] => {
  const named = new Map(subjects.map(({ kind, id }) => [keyOf({ kind, id }), { kind, id }]));
  const asked = [...named].filter(([key]) => state.requested.get(key)?.revisionId !== state.revision);
  if (asked.length === 0) return [];
  const all = new Set([...state.requested.keys(), ...named.keys()]);
  if (all.size > limits.review.requestedReviewers)
    throw conflict(
      'change_request.too_many_reviewers',
      `A change request can ask ${limits.review.requestedReviewers} users and teams for reviews at most.`,
    );
  const { revision: revisionId } = state;
  const reviewers = asked.map(([, subject]) => subject);
  return [
    { type: 'ChangeRequestReviewersRequested', data: { ...ids, revisionId, reviewers, requestedBy, requestedAt } },
  ];
};

export const removeReviewer = (
  { data: { id, removedBy, removedAt } }: RemoveReviewer,
  { requested }: Reviewing,
  ids: Ids,
): readonly ChangeRequestEvent[] => {
  const found = requested.get(keyOf({ kind: 'user', id })) ?? requested.get(keyOf({ kind: 'team', id }));
  if (found === undefined) return [];
  const { kind } = found;
  return [{ type: 'ChangeRequestReviewerRemoved', data: { ...ids, kind, id, removedBy, removedAt } }];
};

export const submitReview = (
  { data: { teams, ...review } }: SubmitReview,
  state: Reviewed,
  ids: Ids,
): readonly ChangeRequestEvent[] => {
  const { requested, revision: revisionId } = state;
  const subjects: readonly ReviewSubject[] = [
    { kind: 'user', id: review.reviewer },
    ...teams.map((id) => ({ kind: 'team' as const, id })),
  ];
  const request = subjects.map((subject) => requested.get(keyOf(subject))).find((found) => found !== undefined);
  const requestedBy = request === undefined ? {} : { requestedBy: request.requestedBy };
  return [{ type: 'ChangeRequestReviewed', data: { ...ids, ...review, revisionId, ...requestedBy } }];
};

/** Whether a review is there already: sent twice. */
export const isSubmitted = ({ data }: SubmitReview, { latest }: Reviewing): boolean =>
  latest.get(data.reviewer)?.reviewId === data.reviewId;

type ReviewEvent = Extract<
  ChangeRequestEvent,
  { type: 'ChangeRequestReviewersRequested' | 'ChangeRequestReviewerRemoved' | 'ChangeRequestReviewed' }
>;

/** Folds one event about reviews. */
export const evolveReviews = <S extends Reviewing>(state: S, event: ReviewEvent): S => {
  switch (event.type) {
    case 'ChangeRequestReviewersRequested': {
      const { reviewers, revisionId, requestedBy } = event.data;
      const asked = reviewers.map((subject) => [keyOf(subject), { ...subject, revisionId, requestedBy }] as const);
      return { ...state, requested: new Map([...state.requested, ...asked]) };
    }
    case 'ChangeRequestReviewerRemoved': {
      const requested = new Map(state.requested);
      requested.delete(keyOf(event.data));
      return { ...state, requested };
    }
    case 'ChangeRequestReviewed': {
      const { reviewer, reviewId, revisionId, status } = event.data;
      return { ...state, latest: new Map([...state.latest, [reviewer, { reviewId, revisionId, status }]]) };
    }
  }
};
