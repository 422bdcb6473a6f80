import { specification } from '@bindery/testing/event-sourcing';
import { describe, test } from '@jest/globals';
import { type OpenAPISpecCommand, openapiSpecDecider } from './decider.ts';
import type { OpenAPISpecEvent, ReadDocument } from './events.ts';

const spec = specification(openapiSpecDecider);
const given = (...events: readonly OpenAPISpecEvent[]) => spec.given(events);
const at = '2026-01-31T09:30:00.000Z';
const later = '2026-01-31T10:30:00.000Z';
const latest = '2026-01-31T11:30:00.000Z';
const ids = { organizationId: 'o1', specId: 's1', slug: 'pets' };
const source = { kind: 'url', url: 'https://example.org/a.yaml' } as const;
const text = { kind: 'text', sha256: 'ab', size: 2 } as const;
const stored = { sha256: 'cd', size: 3 };
const documentOf = (versionId: string, contentHash: string): ReadDocument => ({
  ...{ versionId, contentHash, raw: stored, json: stored, format: 'yaml', specVersion: '3.1.0' },
});

const created: OpenAPISpecEvent = {
  type: 'OpenAPISpecCreated',
  data: { ...ids, source, createdBy: 'u1', createdAt: at },
};
const started: OpenAPISpecEvent = {
  type: 'OpenAPISpecProcessingStarted',
  data: { ...ids, runId: 'r1', startedAt: at, until: later },
};
const added = (versionId: string, contentHash: string, number: number, dropped?: string): OpenAPISpecEvent => ({
  type: 'OpenAPISpecVersionAdded',
  data: {
    ...ids,
    ...documentOf(versionId, contentHash),
    ...(dropped ? { dropped } : {}),
    number,
    source,
    createdAt: at,
  },
});
const processed: OpenAPISpecEvent = {
  type: 'OpenAPISpecProcessed',
  data: { ...ids, runId: 'r1', processedAt: at, dueAt: later },
};
const put = (existing: 'refuse' | 'update', from: typeof source | typeof text = source): OpenAPISpecCommand => ({
  type: 'PutOpenAPISpec',
  data: { ...ids, specId: 's2', source: from, by: 'u2', at: later },
  existing,
});
const begin = (startedAt: string): OpenAPISpecCommand => ({
  type: 'StartOpenAPISpecProcessing',
  data: { runId: 'r2', startedAt, until: latest },
});
const finish = (versionId: string, contentHash: string, runId = 'r1', maxVersions = 2): OpenAPISpecCommand => ({
  type: 'FinishOpenAPISpecProcessing',
  data: {
    runId,
    processedAt: at,
    dueAt: later,
    outcome: { kind: 'read', document: documentOf(versionId, contentHash) },
  },
  maxVersions,
});

describe('OpenAPI specifications', () => {
  test('a slug is given once', () => {
    given(created).when(put('refuse')).thenRefuses('openapi_spec.slug_taken');
  });
  test('a slug is free again after a deletion', () => {
    given(created, { type: 'OpenAPISpecDeleted', data: { ...ids, versions: [], deletedBy: 'u1', deletedAt: at } })
      .when(put('refuse'))
      .thenEvents([
        {
          type: 'OpenAPISpecCreated',
          data: { ...ids, specId: 's2', source, createdBy: 'u2', createdAt: later },
        },
      ]);
  });
  test('the same address again is looked at again, unless that is to be done anyway', () => {
    given(created).when(put('update')).thenNothing();
    given(created, started, processed)
      .when(put('update'))
      .thenEvents([{ type: 'OpenAPISpecRefreshRequested', data: { ...ids, requestedBy: 'u2', requestedAt: later } }]);
  });
  test('another source takes its place, and what comes of the old one is ignored', () => {
    const changed: OpenAPISpecEvent = {
      type: 'OpenAPISpecSourceChanged',
      data: { ...ids, source: text, changedBy: 'u2', changedAt: later },
    };
    given(created, started).when(put('update', text)).thenEvents([changed]);
    given(created, started, changed).when(finish('v1', 'h1')).thenNothing();
  });
  test('one run at a time, until its time is over', () => {
    given(created, started).when(begin(at)).thenNothing();
    given(created, started)
      .when(begin(later))
      .thenEvents([
        {
          type: 'OpenAPISpecProcessingStarted',
          data: { ...ids, runId: 'r2', startedAt: later, until: latest },
        },
      ]);
    given(created, started)
      .when(finish('v1', 'h1', 'another'))
      .thenNothing();
  });
  test('an address is due again at its time, a text never', () => {
    given(created, started, processed).when(begin(at)).thenNothing();
    given(created, started, processed)
      .when(begin(later))
      .thenEvents([
        {
          type: 'OpenAPISpecProcessingStarted',
          data: { ...ids, runId: 'r2', startedAt: later, until: latest },
        },
      ]);
  });
  test('a version comes of other content only', () => {
    given(created, started)
      .when(finish('v1', 'h1'))
      .thenEvents([added('v1', 'h1', 1), processed]);
    given(created, added('v1', 'h1', 1), started)
      .when(finish('v2', 'h1'))
      .thenEvents([processed]);
  });
  test('the oldest version goes when there are too many', () => {
    given(created, added('v1', 'h1', 1), added('v2', 'h2', 2), started)
      .when(finish('v3', 'h3'))
      .thenEvents([added('v3', 'h3', 3, 'v1'), processed]);
  });
  test('a failure leaves versions alone', () => {
    given(created, added('v1', 'h1', 1), started)
      .when({
        type: 'FinishOpenAPISpecProcessing',
        data: { runId: 'r1', processedAt: at, outcome: { kind: 'failed', code: 'FETCH_TIMEOUT', errors: [] } },
        maxVersions: 2,
      })
      .thenEvents([
        {
          type: 'OpenAPISpecProcessingFailed',
          data: { ...ids, runId: 'r1', processedAt: at, code: 'FETCH_TIMEOUT', errors: [] },
        },
      ]);
  });
  test('nothing is done for one that is not there', () => {
    given()
      .when({
        type: 'ChangeOpenAPISpecVisibility',
        data: { visibility: 'public', changedBy: 'u1', changedAt: at },
      })
      .thenRefuses('OpenAPI_specification.not_found');
    given().when(begin(at)).thenNothing();
    given().when(finish('v1', 'h1')).thenNothing();
  });
});
