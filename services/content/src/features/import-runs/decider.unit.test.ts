import { specification } from '@bindery/testing/event-sourcing';
import { describe, test } from '@jest/globals';
import { type ImportRunCommand, importRunDecider } from './decider.ts';
import type { ImportItem, ImportRequest, ImportRunEvent, SettledItem } from './events.ts';

const run = specification(importRunDecider);
const at = '2026-01-01T00:00:00.000Z';
const ids = { importRunId: 'i1', organizationId: 'o1', spaceId: 's1' };
const request: ImportRequest = {
  ...ids,
  source: { type: 'website', url: 'https://example.org/' },
  enhance: true,
  baseUrl: 'https://docs.example.org',
  requestedBy: 'u1',
  requestedAt: at,
  timeoutAt: '2026-01-01T00:30:00.000Z',
};
const requested: ImportRunEvent = { type: 'ImportRunRequested', data: request };
const taken = (worker: string): ImportRunEvent => ({ type: 'ImportRunTaken', data: { ...ids, worker, takenAt: at } });
const take = (worker: string): ImportRunCommand => ({ type: 'TakeImportRun', data: { worker, takenAt: at } });
const item: ImportItem = { id: 'p1', kind: 'page', address: 'https://example.org/', depth: 0 };
const settled: SettledItem = { id: 'p1', outcome: 'read', blob: 'aa', bytes: 2, characters: 1 };
const progressed: ImportRunEvent = {
  type: 'ImportRunProgressed',
  data: { ...ids, found: [item], settled: [settled], files: [], beyond: 0, progressedAt: at },
};
const progress = (worker: string): ImportRunCommand => ({
  type: 'ProgressImportRun',
  data: { worker, found: [item], settled: [settled], progressedAt: at },
});
const landing: ImportRunEvent = { type: 'ImportRunLanding', data: { ...ids, landingAt: at } };
const land = (worker: string): ImportRunCommand => ({ type: 'LandImportRun', data: { worker, landingAt: at } });
const result = { changeRequestId: 'c1', revisionId: 'r1', merged: true, pages: [], failed: 0, completedAt: at };
const complete: ImportRunCommand = { type: 'CompleteImportRun', data: result };
const completed: ImportRunEvent = { type: 'ImportRunCompleted', data: { ...ids, ...result } };
const cancel: ImportRunCommand = { type: 'CancelImportRun', data: { cancelledBy: 'u1', cancelledAt: at } };
const cancelled: ImportRunEvent = {
  type: 'ImportRunCancelled',
  data: { ...ids, cancelledBy: 'u1', cancelledAt: at },
};
const fail = (worker?: string): ImportRunCommand => ({
  type: 'FailImportRun',
  data: { ...(worker === undefined ? {} : { worker }), code: 'x', reason: 'No.', failedAt: at },
});
const failed: ImportRunEvent = { type: 'ImportRunFailed', data: { ...ids, code: 'x', reason: 'No.', failedAt: at } };
const clear: ImportRunCommand = { type: 'ClearImportRun', data: { clearedAt: at } };
const cleared: ImportRunEvent = { type: 'ImportRunCleared', data: { ...ids, clearedAt: at } };

describe('an import', () => {
  test('is asked for once', () => {
    const ask: ImportRunCommand = { type: 'RequestImportRun', data: request };
    run.given([]).when(ask).thenEvents([requested]);
    run.given([requested]).when(ask).thenNothing();
    const other: ImportRunCommand = { type: 'RequestImportRun', data: { ...request, requestedBy: 'u2' } };
    run.given([requested]).when(other).thenRefuses('import.exists');
  });
  test('is the work of the process that took it last', () => {
    run
      .given([requested])
      .when(take('w1'))
      .thenEvents([taken('w1')]);
    run
      .given([requested, taken('w1')])
      .when(take('w1'))
      .thenNothing();
    run
      .given([requested, taken('w1')])
      .when(take('w2'))
      .thenEvents([taken('w2')]);
    run
      .given([requested, taken('w1'), taken('w2')])
      .when(progress('w1'))
      .thenRefuses('import.taken');
    run
      .given([requested, taken('w1'), taken('w2')])
      .when(land('w1'))
      .thenRefuses('import.taken');
    run
      .given([requested, taken('w1'), taken('w2')])
      .when(fail('w1'))
      .thenRefuses('import.taken');
  });
  test('notes each thing once', () => {
    run
      .given([requested, taken('w1')])
      .when(progress('w1'))
      .thenEvents([progressed]);
    run
      .given([requested, taken('w1'), progressed])
      .when(progress('w1'))
      .thenNothing();
    run
      .given([requested, taken('w1'), landing])
      .when(progress('w1'))
      .thenRefuses('import.ended');
  });
  test('completes after it has begun to land, also by a process that was replaced', () => {
    run
      .given([requested, taken('w1')])
      .when(land('w1'))
      .thenEvents([landing]);
    run
      .given([requested, taken('w1')])
      .when(complete)
      .thenRefuses('import.ended');
    run
      .given([requested, taken('w1'), landing, taken('w2')])
      .when(complete)
      .thenEvents([completed]);
    run
      .given([requested, taken('w1'), landing, completed])
      .when(complete)
      .thenNothing();
  });
  test('is cancelled until it lands, and nothing follows', () => {
    run.given([requested]).when(cancel).thenEvents([cancelled]);
    run.given([requested, cancelled]).when(cancel).thenNothing();
    run
      .given([requested, taken('w1'), landing])
      .when(cancel)
      .thenRefuses('import.landing');
    run
      .given([requested, taken('w1'), landing, completed])
      .when(cancel)
      .thenRefuses('import.ended');
    run
      .given([requested, taken('w1'), cancelled])
      .when(land('w1'))
      .thenRefuses('import.ended');
    run.given([requested, cancelled]).when(take('w1')).thenRefuses('import.ended');
  });
  test('fails once, and is cleared away after its end', () => {
    run
      .given([requested, taken('w1')])
      .when(fail())
      .thenEvents([failed]);
    run
      .given([requested, taken('w1'), failed])
      .when(fail())
      .thenNothing();
    run.given([requested]).when(clear).thenNothing();
    run.given([requested, failed]).when(clear).thenEvents([cleared]);
    run.given([requested, failed, cleared]).when(clear).thenNothing();
  });
});
