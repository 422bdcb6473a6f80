import Type, { type Static } from 'typebox';
import { component, embedded } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, listOf, paging, Uri, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import { JSONDocument } from '../schemas/document.ts';
import { ChangeRequestSubject, changeRequestParams } from './change-requests.ts';
import { Comment, CommentBodyInput } from './comments.ts';

const optional = Type.Optional;
const User = embedded('user', 'User');

/** What a review says (gaps-filled section 4). */
export const reviewStatuses = ['changes-requested', 'approved'] as const;
const Status = words(reviewStatuses);

/** A review as clients see it (gaps-filled section 10). */
export const ChangeRequestReview = component(
  'ChangeRequestReview',
  closed({
    object: Type.Literal('change-request-review'),
    id: Id(),
    revision: Id('The revision of the change request that was reviewed.'),
    reviewer: User,
    requestedBy: optional(embedded('user', 'User')),
    status: Status,
    outdated: Type.Boolean({ description: 'The change request has another revision by now.' }),
    comment: optional(Comment),
    createdAt: DateTime,
    updatedAt: DateTime,
    urls: closed({ location: Uri }),
  }),
);
/** What a handler answers for a review; embedded users are ids. */
export type ChangeRequestReview = Static<typeof ChangeRequestReview>;

const request = {
  object: Type.Literal('change-request-requested-reviewer'),
  revision: Id('The revision of the change request at that time.'),
  requestedBy: User,
  createdAt: DateTime,
};
/** Who was asked for a review: a user or a team (gaps-filled section 10). */
export const ChangeRequestRequestedReviewer = component(
  'ChangeRequestRequestedReviewer',
  Type.Union([
    closed({ ...request, kind: Type.Literal('user'), user: User }),
    closed({ ...request, kind: Type.Literal('team'), team: closed({ object: Type.Literal('team'), id: Id() }) }),
  ]),
);
/** What a handler answers for it; embedded users are ids. */
export type ChangeRequestRequestedReviewer = Static<typeof ChangeRequestRequestedReviewer>;

const format = optional(
  words(['document', 'markdown'], { default: 'markdown', description: 'The form in which comments are answered.' }),
);
const subjects = Type.Array(Id(), { maxItems: limits.review.requestedReviewers });

const common = { owner: 'content', surface: 'public', tag: 'Reviews' } as const;
const reads = { method: 'GET', access: 'space:view', scope: 'space:read' } as const;
const inChangeRequest = '/spaces/{spaceId}/change-requests/{changeRequestId}';

/** Operations on reviews and on who is asked for them. */
export const reviewOperations = {
  getRequestedReviewersByChangeRequestId: operation({
    ...common,
    ...reads,
    id: 'getRequestedReviewersByChangeRequestId',
    path: `${inChangeRequest}/requested-reviewers`,
    summary: 'List who was asked to review a change request',
    params: closed(changeRequestParams),
    query: closed(paging),
    success: { 200: listOf(ChangeRequestRequestedReviewer) },
  }),
  requestReviewersForChangeRequest: operation({
    ...common,
    id: 'requestReviewersForChangeRequest',
    method: 'POST',
    path: `${inChangeRequest}/requested-reviewers`,
    summary: 'Ask for reviews of a change request',
    description:
      'Of members who may view the space, and of teams. Asking again after the change request moved on asks about its current revision. The author may, too.',
    access: 'space:edit',
    scope: 'space:write',
    params: closed(changeRequestParams),
    body: closed({
      users: subjects,
      teams: optional(subjects),
      subject: optional(ChangeRequestSubject),
      description: optional(JSONDocument),
    }),
    success: {
      200: closed({ users: optional(Type.Array(ChangeRequestRequestedReviewer)) }),
    },
    errors: [409],
    ifMatch: true,
  }),
  removeRequestedReviewerFromChangeRequest: operation({
    ...common,
    id: 'removeRequestedReviewerFromChangeRequest',
    method: 'DELETE',
    path: `${inChangeRequest}/requested-reviewers/{userId}`,
    summary: 'Ask somebody for a review no longer',
    description:
      'A user or a team. Reviews that were given stay. 205 = it was asked, 204 = it was not. Authors, and who was asked, may too.',
    access: 'space:edit',
    scope: 'space:write',
    params: closed({ ...changeRequestParams, userId: Id('Of a user or of a team.') }),
    success: { 204: null, 205: null },
    errors: [409],
    ifMatch: true,
  }),
  getReviewsByChangeRequestId: operation({
    ...common,
    ...reads,
    id: 'getReviewsByChangeRequestId',
    path: `${inChangeRequest}/reviews`,
    summary: 'List the reviews of a change request',
    description: 'The newest first.',
    params: closed(changeRequestParams),
    query: closed({ ...paging, format, outdated: optional(Type.Boolean({ description: 'Absent: both kinds.' })) }),
    success: { 200: listOf(ChangeRequestReview) },
  }),
  submitChangeRequestReview: operation({
    ...common,
    id: 'submitChangeRequestReview',
    method: 'POST',
    path: `${inChangeRequest}/reviews`,
    summary: 'Review a change request',
    description:
      'It is about the current revision; `If-Match` with the tag of the change request makes sure that it is the one that was read. The latest review of a reviewer counts.',
    access: 'space:review',
    scope: 'space:write',
    params: closed(changeRequestParams),
    body: closed({ status: Status, comment: optional(CommentBodyInput) }),
    success: { 201: ChangeRequestReview },
    errors: [409],
    location: true,
    ifMatch: true,
  }),
  getChangeRequestReviewById: operation({
    ...common,
    ...reads,
    id: 'getChangeRequestReviewById',
    path: `${inChangeRequest}/reviews/{reviewId}`,
    summary: 'Get a review',
    params: closed({ ...changeRequestParams, reviewId: Id() }),
    query: closed({ format }),
    success: { 200: ChangeRequestReview },
  }),
} as const;
