import { specification } from '@bindery/testing/event-sourcing';
import { describe, expect, test } from '@jest/globals';
import { type GitSyncCommand, gitSyncDecider } from './decider.ts';
import type { GitOperationRequest, GitPlace, GitSyncEvent } from './events.ts';

const space = specification(gitSyncDecider);
const ids = { spaceId: 's1', organizationId: 'o1' };
const at = '2026-01-01T00:00:00.000Z';
const end = '2026-01-01T00:10:00.000Z';
const request: GitOperationRequest = {
  operationId: 'g1',
  direction: 'import',
  url: 'https://git.example.org/a.git',
  ref: 'refs/heads/main',
  directory: '',
  force: false,
  standalone: false,
  provider: 'github',
  repoName: 'a',
  hasCredentials: false,
  baseUrl: 'https://docs.example.org',
  startedBy: 'u1',
  startedAt: at,
  timeoutAt: end,
};
const start = (more: Partial<GitOperationRequest> = {}): GitSyncCommand => ({
  type: 'StartGitSync',
  data: { ...ids, ...request, ...more },
});
const started = (more: Partial<GitOperationRequest> = {}): GitSyncEvent => ({
  type: 'GitSyncStarted',
  data: { ...ids, ...request, ...more },
});
const commit = { oid: 'c1', message: 'm', committedAt: at };
const outcome = { revisionId: 'r1', syncedRevisionId: 'r1', commit, changed: true, endedAt: at };
const finish: GitSyncCommand = { type: 'CompleteGitSync', data: { operationId: 'g1', put: [], gone: [], ...outcome } };
const completed = (more: object = {}): GitSyncEvent => ({
  type: 'GitSyncCompleted',
  data: { ...ids, operationId: 'g1', direction: 'import', standalone: false, ref: request.ref, ...outcome, ...more },
});
const failure = { operationId: 'g1', state: 'failure', reason: 'not-found', error: 'Not found.', endedAt: at } as const;
const failed: GitSyncEvent = { type: 'GitSyncFailed', data: { ...ids, direction: 'import', ...failure } };

describe('starting', () => {
  test('the first, and the next after an end', () => {
    space.given([]).when(start()).thenEvents([started()]);
    for (const last of [completed(), failed])
      space
        .given([started(), last])
        .when(start({ operationId: 'g2' }))
        .thenEvents([started({ operationId: 'g2' })]);
  });
  test('one at a time; one that took too long makes way', () => {
    space
      .given([started()])
      .when(start({ operationId: 'g2' }))
      .thenRefuses('git.busy');
    space
      .given([started()])
      .when(start({ operationId: 'g2', direction: 'export' }))
      .thenRefuses('git.busy');
    space
      .given([started()])
      .when(start({ operationId: 'g2', startedAt: end }))
      .thenState((_, events) => expect(events.map(({ type }) => type)).toEqual(['GitSyncFailed', 'GitSyncStarted']));
  });
  test('the same one again is quiet', () => {
    space.given([started()]).when(start()).thenNothing();
    space.given([started(), completed()]).when(start()).thenNothing();
  });
  test('older timestamps are passed over, unless forced; each direction has its own', () => {
    const past = [started({ timestamp: '2026-01-01T12:00:00Z' }), completed()];
    const older = { operationId: 'g2', timestamp: '2026-01-01T12:30:00+01:00' };
    space.given(past).when(start(older)).thenNothing();
    space
      .given(past)
      .when(start({ ...older, force: true }))
      .thenEvents([started({ ...older, force: true })]);
    space
      .given(past)
      .when(start({ ...older, direction: 'export' }))
      .thenEvents([started({ ...older, direction: 'export' })]);
    const same = { operationId: 'g2', timestamp: '2026-01-01T12:00:00Z' };
    space
      .given(past)
      .when(start(same))
      .thenEvents([started(same)]);
    // What failed was not applied.
    space
      .given([started({ timestamp: '2026-01-01T12:00:00Z' }), failed])
      .when(start(older))
      .thenEvents([started(older)]);
  });
});

describe('ending', () => {
  test('completes, with the address of the commit and the places in pieces', () => {
    const repoCommitURL = 'https://git.example.org/a/commit';
    space
      .given([started({ repoCommitURL })])
      .when(finish)
      .thenEvents([completed({ url: `${repoCommitURL}/c1` })]);
    const put = Array.from(
      { length: 2001 },
      (_, n): GitPlace => ({ kind: 'page', id: `p${n}`, path: `${n}.md`, oid: 'o' }),
    );
    space
      .given([started()])
      .when({ type: 'CompleteGitSync', data: { operationId: 'g1', put, gone: ['x'], ...outcome } })
      .thenState((_, events) => {
        expect(events.map(({ type }) => type)).toEqual(['GitPlacesChanged', 'GitPlacesChanged', 'GitSyncCompleted']);
        expect(events[0]?.data).toMatchObject({ gone: ['x'] });
      });
  });
  test('an operation that has ended, or is another, is not completed', () => {
    space.given([]).when(finish).thenRefuses('git.ended');
    space.given([started(), failed]).when(finish).thenRefuses('git.ended');
    space
      .given([started({ operationId: 'g2' })])
      .when(finish)
      .thenRefuses('git.ended');
  });
  test('fails once', () => {
    space.given([started()]).when({ type: 'FailGitSync', data: failure }).thenEvents([failed]);
    space.given([started(), failed]).when({ type: 'FailGitSync', data: failure }).thenNothing();
    space.given([started(), completed()]).when({ type: 'FailGitSync', data: failure }).thenNothing();
    space.given([]).when({ type: 'FailGitSync', data: failure }).thenNothing();
  });
  test('a standalone import is not what the next one starts from', () => {
    const { syncedRevisionId: _, ...rest } = outcome;
    const data = { operationId: 'g1', put: [], gone: [], ...rest };
    space
      .given([started({ standalone: true, timestamp: at })])
      .when({ type: 'CompleteGitSync', data })
      .thenState((state) => {
        expect(state).toMatchObject({ applied: {} });
        expect(state).not.toHaveProperty('synced');
      });
  });
});

describe('revisions beside the line', () => {
  const parts = [
    { changes: [], documents: [] },
    { changes: [], documents: [] },
  ];
  const revision = { operationId: 'g1', revisionId: 'r9', parents: ['r1'], createdBy: 'u1', createdAt: at };
  const record: GitSyncCommand = { type: 'RecordGitRevision', data: { ...revision, parts } };
  test('are recorded in parts, once, while the operation runs', () => {
    const part: GitSyncEvent = {
      type: 'GitRevisionPartRecorded',
      data: { spaceId: 's1', revisionId: 'r9', part: 0, changes: [], documents: [] },
    };
    const recorded: GitSyncEvent = {
      type: 'GitRevisionRecorded',
      data: { ...ids, ...revision, parts: 1, changes: [], documents: [] },
    };
    space.given([started()]).when(record).thenEvents([part, recorded]);
    space.given([started(), part, recorded]).when(record).thenNothing();
    space.given([started(), failed]).when(record).thenRefuses('git.ended');
  });
});
