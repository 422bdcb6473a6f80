import { specification } from '@bindery/testing/event-sourcing';
import { describe, expect, test } from '@jest/globals';
import { type ChangeRequestCommand, changeRequestDecider } from './decider.ts';
import type { ChangeRequestEvent, ChangeRequestStatus, MergeConflict } from './events.ts';

const changeRequest = specification(changeRequestDecider);
const ids = { spaceId: 's1', organizationId: 'o1', changeRequestId: 'c1' };
const at = '2026-01-01T00:00:00.000Z';
const facts = {
  ...ids,
  number: 7,
  subject: 'S',
  status: 'open' as const,
  revisionInitial: 'r0',
  createdBy: 'u1',
  createdAt: at,
};
const opened: ChangeRequestEvent = { type: 'ChangeRequestOpened', data: facts };
const part = { changes: [{ kind: 'page_deleted', pageId: 'p' } as const], documents: [] };

const describeIt = (data: object): ChangeRequestCommand => ({
  type: 'DescribeChangeRequest',
  data: { ...data, changedBy: 'u2', changedAt: at },
});
const described = (data: object): ChangeRequestEvent => ({
  type: 'ChangeRequestDescribed',
  data: { ...ids, ...data, changedBy: 'u2', changedAt: at },
});
const moved = (from: ChangeRequestStatus, to: ChangeRequestStatus): ChangeRequestEvent => ({
  type: 'ChangeRequestStatusChanged',
  data: { ...ids, from, to, changedBy: 'u2', changedAt: at },
});
const edit = (revisionId: string, parent: string, parts: readonly (typeof part)[] = [part]): ChangeRequestCommand => ({
  type: 'EditChangeRequest',
  data: { revisionId, parent, parts, touched: ['p'], editedBy: 'u2', editedAt: at },
});
const edited = (revisionId: string, parent: string): ChangeRequestEvent => ({
  type: 'ChangeRequestEdited',
  data: { ...ids, revisionId, parent, ...part, editedBy: 'u2', editedAt: at },
});
const updating = { primaryRevision: 'r1', conflicts: [], updatedBy: 'u2', updatedAt: at };
const update = (revisionId: string, parent: string): ChangeRequestCommand => ({
  type: 'UpdateChangeRequest',
  data: { revisionId, parents: [parent, 'r1'], parts: [part], ...updating },
});
const updated = (revisionId: string, parent: string): ChangeRequestEvent => ({
  type: 'ChangeRequestUpdated',
  data: { ...ids, revisionId, parents: [parent, 'r1'], ...part, ...updating },
});
const start = (mergeId: string, revisionId: string): ChangeRequestCommand => ({
  type: 'StartMerge',
  data: {
    mergeId,
    revisionId,
    startedBy: 'u2',
    startedAt: at,
    facts: { rules: [], primary: 'r0', mayReview: new Map() },
  },
});
const started: ChangeRequestEvent = {
  type: 'ChangeRequestMergeStarted',
  data: { ...ids, mergeId: 'm1', revisionId: 'r0', startedBy: 'u2', startedAt: at },
};
const abandon = (mergeId: string): ChangeRequestCommand => ({
  type: 'AbandonMerge',
  data: { mergeId, abandonedAt: at },
});
const abandoned: ChangeRequestEvent = {
  type: 'ChangeRequestMergeAbandoned',
  data: { ...ids, mergeId: 'm1', abandonedAt: at },
};
const complete = (mergeId: string): ChangeRequestCommand => ({
  type: 'CompleteMerge',
  data: { mergeId, revisionMerged: mergeId, mergedBy: 'u2', mergedAt: at },
});
const merged: ChangeRequestEvent = {
  type: 'ChangeRequestMerged',
  data: { ...ids, mergeId: 'm1', revisionMerged: 'm1', mergedBy: 'u2', mergedAt: at },
};
const mergedHistory = [opened, started, merged];

describe('opening', () => {
  const open: ChangeRequestCommand = { type: 'OpenChangeRequest', data: facts };
  test('begins the stream, once', () => {
    changeRequest.given([]).when(open).thenEvents([opened]);
    changeRequest.given([opened]).when(open).thenNothing();
  });
  test('is refused where another one is', () => {
    changeRequest
      .given([opened])
      .when({ type: 'OpenChangeRequest', data: { ...facts, number: 8 } })
      .thenRefuses('change_request.exists');
  });
  test('comes before everything else', () => {
    for (const command of [describeIt({ subject: 'x' }), edit('b1', 'r0'), start('m1', 'r0'), complete('m1')])
      changeRequest.given([]).when(command).thenRefuses('change_request.not_found');
  });
});

describe('subject, description and links', () => {
  const description = { object: 'document' as const, data: {}, nodes: [] };
  const links = [{ id: 'l1', ref: { kind: 'url' as const, url: 'https://example.org' } }];
  test('record only what changes', () => {
    changeRequest
      .given([opened])
      .when(describeIt({ subject: 'S', description, links }))
      .thenEvents([described({ description, links })]);
  });
  test('are quiet when nothing changes', () => {
    changeRequest
      .given([opened])
      .when(describeIt({ subject: 'S' }))
      .thenNothing();
    changeRequest
      .given([opened, described({ description, links })])
      .when(describeIt({ description, links }))
      .thenNothing();
    changeRequest
      .given([opened])
      .when(describeIt({ links: [] }))
      .thenNothing();
  });
  test('change in every status', () => {
    changeRequest
      .given(mergedHistory)
      .when(describeIt({ subject: 'N' }))
      .thenEvents([described({ subject: 'N' })]);
  });
});

describe('statuses', () => {
  const free = ['draft', 'open', 'archived'] as const;
  const inStatus = (status: (typeof free)[number]) => (status === 'open' ? [opened] : [opened, moved('open', status)]);
  test('move freely among draft, open and archived', () => {
    for (const from of free) {
      for (const to of free) {
        const outcome = changeRequest.given(inStatus(from)).when(describeIt({ status: to }));
        if (from === to) outcome.thenNothing();
        else outcome.thenEvents([moved(from, to)]);
      }
    }
  });
  test('are final once merged; the refusal names both', () => {
    for (const status of free)
      changeRequest.given(mergedHistory).when(describeIt({ status })).thenRefuses('change_request.status_refused');
    expect(() =>
      changeRequestDecider.decide(
        describeIt({ status: 'open' }),
        mergedHistory.reduce(changeRequestDecider.evolve, changeRequestDecider.initialState()),
      ),
    ).toThrow('cannot go from merged to open');
  });
  test('stand still during a merge', () => {
    changeRequest
      .given([opened, started])
      .when(describeIt({ status: 'archived' }))
      .thenRefuses('change_request.merging');
  });
});

describe('editing', () => {
  test('puts a revision on the branch', () => {
    changeRequest
      .given([opened])
      .when(edit('b1', 'r0'))
      .thenEvents([edited('b1', 'r0')]);
  });
  test('comes in parts when it is large', () => {
    changeRequest
      .given([opened])
      .when(edit('b1', 'r0', [part, part]))
      .thenEvents([
        { type: 'ChangeRequestPartRecorded', data: { ...ids, revisionId: 'b1', part: 0, ...part } },
        { type: 'ChangeRequestEdited', data: { ...edited('b1', 'r0').data, parts: 1 } } as ChangeRequestEvent,
      ]);
  });
  test('is quiet when the revision is there', () => {
    changeRequest
      .given([opened, edited('b1', 'r0')])
      .when(edit('b1', 'r0'))
      .thenNothing();
  });
  test('is refused on another head, when archived, merging or merged', () => {
    changeRequest
      .given([opened, edited('b1', 'r0')])
      .when(edit('b2', 'r0'))
      .thenRefuses('change_request.moved');
    changeRequest
      .given([opened, moved('open', 'archived')])
      .when(edit('b1', 'r0'))
      .thenRefuses('change_request.archived');
    changeRequest.given([opened, started]).when(edit('b1', 'r0')).thenRefuses('change_request.merging');
    changeRequest.given(mergedHistory).when(edit('b1', 'r0')).thenRefuses('change_request.merged');
  });
});

describe('updating', () => {
  test('puts the merged content on the branch, also of an archived one', () => {
    changeRequest
      .given([opened])
      .when(update('b1', 'r0'))
      .thenEvents([updated('b1', 'r0')]);
    changeRequest
      .given([opened, moved('open', 'archived')])
      .when(update('b1', 'r0'))
      .thenEvents([updated('b1', 'r0')]);
    changeRequest
      .given([opened, updated('b1', 'r0')])
      .thenState((state) => expect(state).toMatchObject({ revision: 'b1', revisionMergedAncestor: 'r1' }));
  });
  test('is quiet when the revision is there', () => {
    changeRequest
      .given([opened, updated('b1', 'r0')])
      .when(update('b1', 'r0'))
      .thenNothing();
  });
  test('is refused on another head, when merging or merged', () => {
    changeRequest
      .given([opened, edited('b1', 'r0')])
      .when(update('b2', 'r0'))
      .thenRefuses('change_request.moved');
    changeRequest.given([opened, started]).when(update('b1', 'r0')).thenRefuses('change_request.merging');
    changeRequest.given(mergedHistory).when(update('b1', 'r0')).thenRefuses('change_request.merged');
  });
});

describe('merging', () => {
  test('freezes the branch, then marks it', () => {
    changeRequest.given([opened]).when(start('m1', 'r0')).thenEvents([started]);
    changeRequest.given([opened, started]).when(complete('m1')).thenEvents([merged]);
    changeRequest
      .given(mergedHistory)
      .thenState((state) => expect(state).toMatchObject({ status: 'merged', merged: { revisionMerged: 'm1' } }));
  });
  test('is quiet when repeated', () => {
    changeRequest.given([opened, started]).when(start('m1', 'r0')).thenNothing();
    changeRequest.given(mergedHistory).when(start('m1', 'r0')).thenNothing();
    changeRequest.given(mergedHistory).when(complete('m1')).thenNothing();
  });
  test('is refused on another head, beside another merge, and a second time', () => {
    changeRequest
      .given([opened, edited('b1', 'r0')])
      .when(start('m1', 'r0'))
      .thenRefuses('change_request.moved');
    changeRequest.given([opened, started]).when(start('m2', 'r0')).thenRefuses('change_request.merging');
    changeRequest.given(mergedHistory).when(start('m2', 'r0')).thenRefuses('change_request.merged');
  });
  test('starts from draft and archived too', () => {
    for (const status of ['draft', 'archived'] as const)
      changeRequest
        .given([opened, moved('open', status)])
        .when(start('m1', 'r0'))
        .thenEvents([started]);
  });
  test('given up, sets the branch free', () => {
    changeRequest.given([opened, started]).when(abandon('m1')).thenEvents([abandoned]);
    changeRequest
      .given([opened, started, abandoned])
      .when(edit('b1', 'r0'))
      .thenEvents([edited('b1', 'r0')]);
    changeRequest.given([opened]).when(abandon('m1')).thenNothing();
    changeRequest.given([opened, started]).when(abandon('m2')).thenNothing();
    changeRequest.given(mergedHistory).when(abandon('m1')).thenNothing();
  });
  test('that the space has committed is recorded even when it was given up here', () => {
    changeRequest.given([opened, started, abandoned]).when(complete('m1')).thenEvents([merged]);
  });
});

test('events of a newer version change nothing', () => {
  const unknown = { type: 'ChangeRequestPainted', data: {} } as unknown as ChangeRequestEvent;
  changeRequest.given([opened, unknown]).thenState((state) => expect(state).toMatchObject({ status: 'open' }));
});

describe('conflicts', () => {
  const conflicts = (...found: readonly MergeConflict[]): ChangeRequestEvent => {
    const event = updated('b1', 'r0');
    if (event.type !== 'ChangeRequestUpdated') throw new Error('not an update');
    return { ...event, data: { ...event.data, conflicts: found } };
  };
  const [p, q] = [
    { pageId: 'p', field: 'document' },
    { pageId: 'q', field: 'title' },
  ] as const;
  const file = { kind: 'file', pageId: 'f', field: 'metadata' } as const;
  const settle = (...touched: readonly string[]): ChangeRequestCommand => ({
    type: 'SettleConflicts',
    data: { parent: 'b1', touched, settledBy: 'u2', settledAt: at },
  });
  const settled = (...pages: readonly string[]): ChangeRequestEvent => ({
    type: 'ChangeRequestConflictsSettled',
    data: { ...ids, settled: pages, settledBy: 'u2', settledAt: at },
  });
  const left = (...events: readonly ChangeRequestEvent[]) => {
    const state = [opened, ...events].reduce(changeRequestDecider.evolve, changeRequestDecider.initialState());
    return state.status === 'none' ? undefined : state.conflicts;
  };

  test('an edit records which of them it settles', () => {
    const event = edited('b2', 'b1');
    if (event.type !== 'ChangeRequestEdited') throw new Error('not an edit');
    const recorded: ChangeRequestEvent = { ...event, data: { ...event.data, settled: ['p'] } };
    changeRequest
      .given([opened, conflicts(p, q)])
      .when(edit('b2', 'b1'))
      .thenEvents([recorded]);
    expect(left(conflicts(p, q), recorded)).toEqual({ pages: ['q'], others: false });
  });
  test('naming a page settles it, once', () => {
    changeRequest
      .given([opened, conflicts(p, q)])
      .when(settle('p', 'x'))
      .thenEvents([settled('p')]);
    changeRequest
      .given([opened, conflicts(p), settled('p')])
      .when(settle('p'))
      .thenNothing();
    changeRequest
      .given([opened, conflicts(p, q)])
      .when(settle('x'))
      .thenNothing();
    expect(left(conflicts(p), settled('p'))).toBeUndefined();
  });
  test('of what is no page last until the next edit, whatever it names', () => {
    expect(left(conflicts(file))).toEqual({ pages: [], others: true });
    changeRequest
      .given([opened, conflicts(file)])
      .when(settle('x'))
      .thenEvents([settled()]);
    expect(left(conflicts(file), settled())).toBeUndefined();
    expect(left(conflicts(file), edited('b2', 'b1'))).toBeUndefined();
  });
  test('older edits settle what they change', () => {
    expect(left(conflicts(p, q), edited('b2', 'b1'))).toEqual({ pages: ['q'], others: false });
  });
  test('later updates add theirs', () => {
    expect(left(conflicts(p), updated('b2', 'b1'), conflicts(q, file))).toEqual({ pages: ['p', 'q'], others: true });
  });
});
