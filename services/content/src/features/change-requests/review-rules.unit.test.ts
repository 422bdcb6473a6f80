import { limits } from '@bindery/contracts';
import { specification } from '@bindery/testing/event-sourcing';
import { describe, test } from '@jest/globals';
import { type ChangeRequestCommand, changeRequestDecider } from './decider.ts';
import type { ChangeRequestEvent, ReviewStatus, ReviewSubject } from './events.ts';

const changeRequest = specification(changeRequestDecider);
const ids = { spaceId: 's1', organizationId: 'o1', changeRequestId: 'c1' };
const at = '2026-01-01T00:00:00.000Z';
const opened: ChangeRequestEvent = {
  type: 'ChangeRequestOpened',
  data: { ...ids, number: 7, subject: 'S', status: 'open', revisionInitial: 'r0', createdBy: 'author', createdAt: at },
};
const before = [opened];
const edited: ChangeRequestEvent = {
  type: 'ChangeRequestEdited',
  data: { ...ids, revisionId: 'b1', parent: 'r0', changes: [], documents: [], editedBy: 'author', editedAt: at },
};
const described = (data: object): ChangeRequestEvent => ({
  type: 'ChangeRequestDescribed',
  data: { ...ids, ...data, changedBy: 'author', changedAt: at },
});
const reviewed = (status: ReviewStatus, revisionId = 'r0', more: object = {}): ChangeRequestEvent => ({
  type: 'ChangeRequestReviewed',
  data: { ...ids, reviewId: 'v-ann', revisionId, status, reviewer: 'ann', reviewedAt: at, ...more },
});
const approved = (revisionId?: string) => reviewed('approved', revisionId);

const asking = (subjects: readonly ReviewSubject[], more: object = {}): ChangeRequestCommand => ({
  type: 'RequestReviewers',
  data: { subjects, requestedBy: 'author', requestedAt: at, ...more },
});
const asked = (revisionId: string, ...subjects: readonly ReviewSubject[]): ChangeRequestEvent => ({
  type: 'ChangeRequestReviewersRequested',
  data: { ...ids, revisionId, reviewers: [...subjects], requestedBy: 'author', requestedAt: at },
});
const review = (reviewer: string, status: ReviewStatus, teams: readonly string[] = []): ChangeRequestCommand => ({
  type: 'SubmitReview',
  data: { reviewId: `v-${reviewer}`, status, reviewer, teams, reviewedAt: at },
});
const removal = (id: string): ChangeRequestCommand => ({
  type: 'RemoveReviewer',
  data: { id, removedBy: 'author', removedAt: at },
});
const removed = (kind: 'user' | 'team', id: string): ChangeRequestEvent => ({
  type: 'ChangeRequestReviewerRemoved',
  data: { ...ids, kind, id, removedBy: 'author', removedAt: at },
});
const ann = { kind: 'user', id: 'ann' } as const;
const team = { kind: 'team', id: 't1' } as const;
const moves = (to: 'draft' | 'archived'): ChangeRequestEvent => ({
  type: 'ChangeRequestStatusChanged',
  data: { ...ids, from: 'open', to, changedBy: 'author', changedAt: at },
});
const mergedData = { mergeId: 'm1', revisionMerged: 'm1', mergedBy: 'ann', mergedAt: at };
const merged: ChangeRequestEvent = { type: 'ChangeRequestMerged', data: { ...ids, ...mergedData } };

describe('asking for reviews', () => {
  test('names everybody once, about the current revision', () => {
    changeRequest
      .given(before)
      .when(asking([ann, team, ann]))
      .thenEvents([asked('r0', ann, team)]);
    changeRequest
      .given([...before, asked('r0', ann)])
      .when(asking([ann]))
      .thenNothing();
    changeRequest
      .given([opened, asked('r0', ann), edited])
      .when(asking([ann]))
      .thenEvents([asked('b1', ann)]);
  });
  test('a user and a team of the same id are two', () => {
    changeRequest
      .given([...before, asked('r0', ann)])
      .when(asking([{ kind: 'team', id: 'ann' }]))
      .thenEvents([asked('r0', { kind: 'team', id: 'ann' })]);
  });
  test('sets subject and description in the same append, where they are new', () => {
    changeRequest
      .given(before)
      .when(asking([ann], { subject: 'New' }))
      .thenEvents([described({ subject: 'New' }), asked('r0', ann)]);
    changeRequest
      .given(before)
      .when(asking([ann], { subject: 'S' }))
      .thenEvents([asked('r0', ann)]);
  });
  test('has a bound, whoever it is about', () => {
    const users = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ kind: 'user' as const, id: `u${from + index}` }));
    const most = limits.review.requestedReviewers;
    changeRequest
      .given([...before, asked('r0', ...users(0, most))])
      .when(asking([ann]))
      .thenRefuses('change_request.too_many_reviewers');
    changeRequest
      .given([...before, asked('r0', ...users(0, most))])
      .when(asking(users(0, most)))
      .thenNothing();
  });
  test('is refused when archived, merging or merged', () => {
    const data = { ...ids, mergeId: 'm1', revisionId: 'r0', startedBy: 'ann', startedAt: at };
    const merging = { type: 'ChangeRequestMergeStarted', data } as const;
    for (const command of [asking([ann]), review('ann', 'approved')]) {
      changeRequest
        .given([...before, moves('archived')])
        .when(command)
        .thenRefuses('change_request.archived');
      changeRequest
        .given([...before, merging])
        .when(command)
        .thenRefuses('change_request.merging');
      changeRequest
        .given([...before, merged])
        .when(command)
        .thenRefuses('change_request.merged');
      changeRequest.given([]).when(command).thenRefuses('change_request.not_found');
    }
  });
});

describe('asking no longer', () => {
  test('takes a user or a team away, once', () => {
    changeRequest
      .given([...before, asked('r0', ann, team)])
      .when(removal('t1'))
      .thenEvents([removed('team', 't1')]);
    changeRequest
      .given([...before, asked('r0', ann), removed('user', 'ann')])
      .when(removal('ann'))
      .thenNothing();
    changeRequest.given(before).when(removal('nobody')).thenNothing();
  });
  test('works in an archived one, not in a merged one', () => {
    changeRequest
      .given([...before, asked('r0', ann), moves('archived')])
      .when(removal('ann'))
      .thenEvents([removed('user', 'ann')]);
    changeRequest
      .given([...before, asked('r0', ann), merged])
      .when(removal('ann'))
      .thenRefuses('change_request.merged');
  });
});

describe('reviewing', () => {
  test('is about the current revision, with nobody asking for it', () => {
    changeRequest
      .given([opened, edited])
      .when(review('ann', 'approved'))
      .thenEvents([approved('b1')]);
    changeRequest
      .given([...before, moves('draft')])
      .when(review('ann', 'changes-requested'))
      .thenEvents([reviewed('changes-requested')]);
  });
  test('answers who asked the reviewer, or a team of it', () => {
    const answer = reviewed('approved', 'r0', { requestedBy: 'author' });
    changeRequest
      .given([...before, asked('r0', ann)])
      .when(review('ann', 'approved'))
      .thenEvents([answer]);
    changeRequest
      .given([...before, asked('r0', team)])
      .when(review('ann', 'approved', ['t0', 't1']))
      .thenEvents([answer]);
    changeRequest
      .given([...before, asked('r0', team)])
      .when(review('ann', 'approved', ['t0']))
      .thenEvents([approved()]);
    changeRequest
      .given([...before, asked('r0', ann), removed('user', 'ann')])
      .when(review('ann', 'approved'))
      .thenEvents([approved()]);
  });
  test('sent twice is there once, also when it was merged since', () => {
    changeRequest
      .given([...before, approved()])
      .when(review('ann', 'approved'))
      .thenNothing();
    changeRequest
      .given([...before, approved(), merged])
      .when(review('ann', 'approved'))
      .thenNothing();
  });
});
