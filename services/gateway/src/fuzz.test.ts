import { errorStatuses } from '@bindery/contracts';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type FakeInstance, startFakeInstance } from './testing.ts';

let instance: FakeInstance;
beforeAll(async () => {
  instance = await startFakeInstance();
  instance.service.things.set('t1', { title: 'One', owner: null, revision: 0 });
});
afterAll(() => instance.stop());

const anyText = fc.string({ unit: 'binary', maxLength: 40 });
const encoded = anyText.map((text) => encodeURIComponent(text.toWellFormed()));
const plainSegment = fc.string({ unit: fc.constantFrom(...'abz019-_.~%/?&=+:;@!$()*,'), maxLength: 20 });
const segment = fc.oneof(fc.constant('t1'), encoded, plainSegment);
const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS');
const path = fc.oneof(
  segment.map((id) => `/v1/things/${id}`),
  segment.map((id) => `/v1/things/t1/pages/${id}`),
  fc.tuple(segment, segment).map(([name, value]) => `/v1/things?${name}=${value}&limit=${value}`),
  fc.constantFrom('/v1/things', '/v1/things/t1/poke', '/v1/uploads', '/admin/v1/projections/rebuild', '/v1', '/docs'),
  segment.map((rest) => `/${rest}`),
);
const body = fc.oneof(
  fc.json({ maxDepth: 6 }),
  anyText,
  fc
    .record(
      { title: fc.oneof(anyText, fc.jsonValue()), owner: fc.jsonValue(), data: fc.jsonValue() },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
);
const header = fc.string({ unit: fc.constantFrom(...'aB1 "*/,;=-W'), maxLength: 30 }).map((text) => text.trim());
const headers = fc.record(
  {
    'content-type': fc.constantFrom('application/json', 'text/plain', 'application/json; charset=utf-8', ''),
    'if-match': header,
    'if-none-match': header,
    'idempotency-key': header,
    prefer: header,
    'x-request-id': header,
    'content-encoding': fc.constantFrom('gzip', 'br', 'identity', 'nonsense'),
    traceparent: header,
  },
  { requiredKeys: ['content-type'] },
);

test('whatever comes in: never a 500, documented statuses, the envelope on every failure', async () => {
  const documented = new Set([404, 405, 414, ...[...instance.contract.operations.values()].flatMap(errorStatuses)]);
  await fc.assert(
    fc.asyncProperty(method, path, headers, body, async (verb, target, given, text) => {
      const bodiless = verb === 'GET' || verb === 'HEAD' || verb === 'OPTIONS';
      const response = await fetch(`${instance.url}${target}`, {
        method: verb,
        headers: { ...given, authorization: 'Bearer root' },
        ...(bodiless ? {} : { body: text }),
      });
      const answer = await response.text();
      expect(response.status).not.toBe(500);
      expect(response.headers.get('x-request-id')).toBeTruthy();
      if (response.status < 400) return;
      expect(documented).toContain(response.status);
      if (verb === 'HEAD') return;
      expect(JSON.parse(answer)).toEqual({ error: { code: response.status, message: expect.any(String) } });
      expect(answer.length).toBeLessThan(2000);
    }),
    { numRuns: 300 },
  );
  expect(Object.keys(Object.prototype)).toEqual([]);
});
