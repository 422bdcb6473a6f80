import { specification } from '@bindery/testing/event-sourcing';
import { describe, expect, test } from '@jest/globals';
import { type SpaceCommand, spaceDecider } from './decider.ts';
import type { SpaceEvent } from './events.ts';

const space = specification(spaceDecider);
const ids = { spaceId: 's1', organizationId: 'o1' };
const at = '2026-01-01T00:00:00.000Z';
const later = '2026-01-09T00:00:00.000Z';

const create: SpaceCommand = {
  type: 'CreateSpace',
  data: {
    ...ids,
    title: 'Docs',
    visibility: 'private',
    defaultLevel: 'inherit',
    mergeRules: { type: 'inherit' },
    createdBy: 'u1',
    createdAt: at,
    revisionId: 'r0',
    parts: [{ changes: [], documents: [] }],
  },
};
const created: SpaceEvent = {
  type: 'SpaceCreated',
  data: {
    ...ids,
    title: 'Docs',
    visibility: 'private',
    defaultLevel: 'inherit',
    mergeRules: { type: 'inherit' },
    createdBy: 'u1',
    createdAt: at,
  },
};
const committed = (
  revisionId: string,
  parents: readonly string[],
  more: Partial<Extract<SpaceEvent, { type: 'RevisionCommitted' }>['data']> = {},
): SpaceEvent => ({
  type: 'RevisionCommitted',
  data: {
    ...ids,
    revisionId,
    revisionType: 'edits',
    parents,
    parts: 0,
    changes: [],
    documents: [],
    createdBy: 'u1',
    createdAt: at,
    ...more,
  },
});
const begun: SpaceEvent[] = [created, committed('r0', [])];
const deleted: SpaceEvent = {
  type: 'SpaceDeleted',
  data: { ...ids, deletedBy: 'u1', deletedAt: at, purgeAfter: '2026-01-08T00:00:00.000Z' },
};
const restored: SpaceEvent = { type: 'SpaceRestored', data: { ...ids, restoredBy: 'u1', restoredAt: at } };
const purged: SpaceEvent = { type: 'SpacePurged', data: { ...ids, purgedAt: later } };
const number = (changeRequestId: string): SpaceCommand => ({
  type: 'NumberChangeRequest',
  data: { changeRequestId, subject: 'S', status: 'open', createdBy: 'u1', createdAt: at },
});
const numbered = (changeRequestId: string, value: number, revisionInitial = 'r0'): SpaceEvent => ({
  type: 'ChangeRequestNumbered',
  data: {
    ...ids,
    changeRequestId,
    number: value,
    subject: 'S',
    status: 'open',
    revisionInitial,
    createdBy: 'u1',
    createdAt: at,
  },
});
const merge = (revisionId: string, parent: string, changeRequestId = 'c1'): SpaceCommand => ({
  type: 'CommitRevision',
  data: {
    revisionId,
    revisionType: 'merge',
    parents: [parent, 'b1'],
    parts: [{ changes: [], documents: [] }],
    mergedFrom: { changeRequestId, revisionId: 'b1' },
    createdBy: 'u1',
    createdAt: at,
  },
});
const merged = (revisionId: string, parent: string, changeRequestId = 'c1') =>
  committed(revisionId, [parent, 'b1'], {
    revisionType: 'merge',
    mergedFrom: { changeRequestId, revisionId: 'b1' },
  });
const fence = (mergeId: string): SpaceCommand => ({
  type: 'AbandonMerge',
  data: { changeRequestId: 'c1', mergeId, abandonedAt: at },
});
const fenced = (mergeId: string): SpaceEvent => ({
  type: 'MergeAbandoned',
  data: { spaceId: 's1', changeRequestId: 'c1', mergeId, abandonedAt: at },
});

describe('creating a space', () => {
  test('begins with a first revision in the same append', () => {
    space.given([]).when(create).thenEvents(begun);
  });
  test('is refused where another space is, and quiet when repeated', () => {
    space.given(begun).when(create).thenNothing();
    space
      .given(begun)
      .when({ ...create, data: { ...create.data, spaceId: 's2' } })
      .thenRefuses('space.exists');
  });
});

describe('changing settings', () => {
  const change = (settings: object): SpaceCommand => ({
    type: 'ChangeSpaceSettings',
    data: { settings, changedBy: 'u1', changedAt: at },
  });
  test('records only what changes', () => {
    const changed = { ...ids, settings: { title: 'New' }, changedBy: 'u1', changedAt: at };
    space
      .given(begun)
      .when(change({ title: 'New', defaultLevel: 'inherit' }))
      .thenEvents([{ type: 'SpaceSettingsChanged', data: changed }]);
  });
  test('is quiet when nothing changes; what was never set is as if cleared', () => {
    space
      .given(begun)
      .when(change({ title: 'Docs', emoji: null, icon: null }))
      .thenNothing();
    space.given(begun).when(change({})).thenNothing();
  });
  test('is refused in a deleted space and where there is none', () => {
    space
      .given([...begun, deleted])
      .when(change({ title: 'New' }))
      .thenRefuses('space.not_found');
    space
      .given([])
      .when(change({ title: 'New' }))
      .thenRefuses('space.not_found');
  });
});

describe('deleting, restoring and purging', () => {
  const remove: SpaceCommand = {
    type: 'DeleteSpace',
    data: { deletedBy: 'u1', deletedAt: at, purgeAfter: '2026-01-08T00:00:00.000Z' },
  };
  const restore = (restoredAt: string): SpaceCommand => ({
    type: 'RestoreSpace',
    data: { restoredBy: 'u1', restoredAt },
  });
  const purge = (purgedAt: string): SpaceCommand => ({ type: 'PurgeSpace', data: { purgedAt } });

  test('deletes once', () => {
    space.given(begun).when(remove).thenEvents([deleted]);
    space
      .given([...begun, deleted])
      .when(remove)
      .thenNothing();
    space
      .given([...begun, deleted, purged])
      .when(remove)
      .thenRefuses('space.not_found');
  });
  test('restores within the term, not at its end', () => {
    space
      .given([...begun, deleted])
      .when(restore(at))
      .thenEvents([restored]);
    space
      .given([...begun, deleted])
      .when(restore('2026-01-08T00:00:00.000Z'))
      .thenRefuses('space.not_found');
    space.given(begun).when(restore(at)).thenNothing();
    space
      .given([...begun, deleted, purged])
      .when(restore(at))
      .thenRefuses('space.not_found');
  });
  test('purges only what is due', () => {
    space
      .given([...begun, deleted])
      .when(purge(later))
      .thenEvents([purged]);
    space
      .given([...begun, deleted])
      .when(purge(at))
      .thenRefuses('space.purge_not_due');
    space
      .given([...begun, deleted, restored])
      .when(purge(later))
      .thenRefuses('space.not_deleted');
    space
      .given([...begun, deleted, purged])
      .when(purge(later))
      .thenNothing();
    space.given([]).when(purge(later)).thenRefuses('space.not_found');
  });
});

describe('numbering change requests', () => {
  test('counts without gaps and starts from the head', () => {
    space
      .given(begun)
      .when(number('c1'))
      .thenEvents([numbered('c1', 1)]);
    space
      .given([...begun, numbered('c1', 1), committed('r1', ['r0'])])
      .when(number('c2'))
      .thenEvents([numbered('c2', 2, 'r1')]);
  });
  test('is quiet for one that has its number, also in a deleted space', () => {
    space
      .given([...begun, numbered('c1', 1)])
      .when(number('c1'))
      .thenNothing();
    space
      .given([...begun, numbered('c1', 1), deleted])
      .when(number('c1'))
      .thenNothing();
  });
  test('is refused in a deleted space', () => {
    space
      .given([...begun, deleted])
      .when(number('c1'))
      .thenRefuses('space.not_found');
  });
});

describe('committing a revision', () => {
  const open = [...begun, numbered('c1', 1)];
  test('makes it the head', () => {
    space
      .given(open)
      .when(merge('m1', 'r0'))
      .thenEvents([merged('m1', 'r0')]);
    space.given([...open, merged('m1', 'r0')]).thenState((state) => expect(state).toMatchObject({ head: 'm1' }));
  });
  test('comes in parts when it is large', () => {
    const part = (id: string) => ({ changes: [{ kind: 'page_deleted', pageId: id } as const], documents: [] });
    const command = merge('m1', 'r0');
    space
      .given(open)
      .when({ ...command, data: { ...command.data, parts: [part('a'), part('b')] } } as SpaceCommand)
      .thenEvents([
        { type: 'RevisionPartRecorded', data: { spaceId: 's1', revisionId: 'm1', part: 0, ...part('a') } },
        committed('m1', ['r0', 'b1'], {
          revisionType: 'merge',
          mergedFrom: { changeRequestId: 'c1', revisionId: 'b1' },
          parts: 1,
          ...part('b'),
        }),
      ]);
  });
  test('is refused on any other head', () => {
    space
      .given([...open, committed('r1', ['r0'])])
      .when(merge('m1', 'r0'))
      .thenRefuses('revision.head_moved');
  });
  test('is quiet when it is there, also under later ones', () => {
    space
      .given([...open, merged('m1', 'r0')])
      .when(merge('m1', 'r0'))
      .thenNothing();
    space
      .given([...open, merged('m1', 'r0'), committed('r2', ['m1'])])
      .when(merge('m1', 'r0'))
      .thenNothing();
  });
  test('is refused when the change request was merged otherwise, given up, or is not of this space', () => {
    space
      .given([...open, merged('m1', 'r0')])
      .when(merge('m2', 'm1'))
      .thenRefuses('change_request.merged');
    space
      .given([...open, fenced('m1')])
      .when(merge('m1', 'r0'))
      .thenRefuses('merge.abandoned');
    space
      .given(open)
      .when(merge('m1', 'r0', 'other'))
      .thenRefuses('change_request.not_found');
    space
      .given([...open, deleted])
      .when(merge('m1', 'r0'))
      .thenRefuses('space.not_found');
  });
  test('another merge of the same change request is possible after one was given up', () => {
    space
      .given([...open, fenced('m1')])
      .when(merge('m2', 'r0'))
      .thenEvents([merged('m2', 'r0')]);
  });
});

describe('giving up a merge', () => {
  const open = [...begun, numbered('c1', 1)];
  test('keeps its commit out', () => {
    space
      .given(open)
      .when(fence('m1'))
      .thenEvents([fenced('m1')]);
    space
      .given([...open, deleted])
      .when(fence('m1'))
      .thenEvents([fenced('m1')]);
  });
  test('is quiet when it was given up, or came too late', () => {
    space
      .given([...open, fenced('m1')])
      .when(fence('m1'))
      .thenNothing();
    space
      .given([...open, merged('m1', 'r0')])
      .when(fence('m1'))
      .thenNothing();
  });
  test('is refused for a change request of another space', () => {
    space.given(begun).when(fence('m1')).thenRefuses('change_request.not_found');
  });
});

test('events of a newer version change nothing', () => {
  const unknown = { type: 'SpacePainted', data: {} } as unknown as SpaceEvent;
  space.given([...begun, unknown]).thenState((state) => expect(state).toMatchObject({ status: 'active', head: 'r0' }));
});
