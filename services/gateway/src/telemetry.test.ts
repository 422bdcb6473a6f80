import { recordingTelemetry } from '@bindery/testing/telemetry';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type FakeInstance, startFakeInstance } from './testing.ts';

const telemetry = recordingTelemetry();
let now = new Date('2026-01-01T00:00:00Z');
let instance: FakeInstance;
beforeAll(async () => {
  instance = await startFakeInstance({}, { telemetry, clock: { now: () => now } });
});
afterAll(() => instance.stop());
beforeEach(() => {
  now = new Date('2026-01-01T00:00:00Z');
});

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${instance.url}${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer secret', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

test('a request is one server span under the caller, and is counted', async () => {
  const trace = '0af7651916cd43dd8448eb211c80319c';
  await post('/v1/things', { title: 'One' }, { traceparent: `00-${trace}-b7ad6b7169203331-01` });
  const span = telemetry.spans.find(({ name }) => name === 'POST /v1/things');
  expect(span).toMatchObject({
    kind: 'server',
    traceId: trace,
    parentId: 'b7ad6b7169203331',
    attributes: { 'http.route': '/v1/things', 'bindery.operation': 'createThing', 'http.response.status_code': 201 },
    failed: false,
  });
  expect(telemetry.counted('bindery_requests_total', { operation: 'createThing', status: '201' })).toBe(1);
  expect(telemetry.recorded('bindery_request_duration_seconds')).toBeGreaterThan(0);
});

test('a failure of ours fails the span and is logged whole, with the request id; tokens are nowhere', async () => {
  const answer = await post('/v1/misbehave', { how: 'throw' }, { 'x-request-id': 'find-me' });
  expect(answer.status).toBe(500);
  await answer.text();
  expect(telemetry.spans.find(({ name }) => name === 'POST /v1/misbehave')).toMatchObject({ failed: true });
  const line = telemetry.logs.find(({ level, fields }) => level === 'error' && fields.requestId === 'find-me');
  expect(Object(line?.fields.error).message).toBe('secret-marker');
  expect(JSON.stringify([telemetry.logs, telemetry.spans])).not.toContain('Bearer');
});

test('what callers get wrong is not logged as an error', async () => {
  const before = telemetry.logs.length;
  await post('/v1/things', { title: '' });
  await fetch(`${instance.url}/v1/nope`);
  expect(telemetry.logs.slice(before)).toEqual([]);
});

test('an idempotency key is free again after 24 hours', async () => {
  const create = async () =>
    Object(await (await post('/v1/things', { title: 'Kept' }, { 'idempotency-key': 'k' })).json()).id;
  const first = await create();
  now = new Date('2026-01-01T23:59:59Z');
  expect(await create()).toBe(first);
  now = new Date('2026-01-02T00:00:01Z');
  expect(await create()).not.toBe(first);
});
