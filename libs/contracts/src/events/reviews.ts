import Type from 'typebox';
import { publicEvent } from '../kit/public-event.ts';
import { closed, DateTime, Id, words } from '../kit/schema.ts';

// What reviewers say is private: consumers read it through the API, as somebody who may.

const optional = Type.Optional;
const inChangeRequest = { spaceId: Id(), organizationId: Id(), changeRequestId: Id() };
const Kind = words(['user', 'team']);

const changeRequest = {
  spaceId: 's1pQz7LkVw0RyB5nEt8X',
  organizationId: 'o9Fj3sNc7PdHa1TgK6vW',
  changeRequestId: 'c5Xm2tUq8JhDf4YaZ7rK',
};
const [user, reviewer, team] = ['u4Qm2tXz8LkVw0RyB5nE', 'u7Bn6gWs0EoLi5VcM9pT', 't2Wd9eRf6TgYh3UjI7ok'];
const revisionId = 'r3Bn6gWs0EoLi5VcM9pT';
const at = '2026-01-31T09:30:00.000Z';

const reviewersRequested = publicEvent({
  type: 'bindery.content.change-request.reviewers-requested.v1',
  owner: 'content',
  summary: 'Somebody asked users or teams to review a change request.',
  data: closed({
    ...inChangeRequest,
    revisionId: Id(),
    reviewers: Type.Array(closed({ kind: Kind, id: Id() })),
    requestedBy: Id(),
    requestedAt: DateTime,
  }),
  samples: [
    {
      ...changeRequest,
      revisionId,
      reviewers: [
        { kind: 'user', id: reviewer },
        { kind: 'team', id: team },
      ],
      requestedBy: user,
      requestedAt: at,
    },
  ],
});

const reviewerRemoved = publicEvent({
  type: 'bindery.content.change-request.reviewer-removed.v1',
  owner: 'content',
  summary: 'A user or team is asked no longer to review a change request.',
  data: closed({ ...inChangeRequest, kind: Kind, id: Id(), removedBy: Id(), removedAt: DateTime }),
  samples: [{ ...changeRequest, kind: 'user', id: reviewer, removedBy: user, removedAt: at }],
});

const reviewed = publicEvent({
  type: 'bindery.content.change-request.reviewed.v1',
  owner: 'content',
  summary: 'A change request was reviewed.',
  description: 'What the reviewer says is read through the API, as the comment `commentId`.',
  data: closed({
    ...inChangeRequest,
    reviewId: Id(),
    revisionId: Id(),
    status: words(['changes-requested', 'approved']),
    commentId: optional(Id()),
    reviewedBy: Id(),
    reviewedAt: DateTime,
  }),
  samples: [
    {
      ...changeRequest,
      reviewId: 'v5Xm2tUq8JhDf4YaZ7rK',
      revisionId,
      status: 'approved',
      reviewedBy: reviewer,
      reviewedAt: at,
    },
  ],
});

/** What the content service tells of reviews. */
export const reviewEvents = { reviewersRequested, reviewerRemoved, reviewed };
