import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { unreadAnswer } from './adapters/unread-answer.ts';

const textOf = (answer: unknown): string => JSON.stringify({ answer });

test.each<readonly [string, { readonly body: unknown; readonly etag?: string }]>([
  ['with a version', { body: { a: 1 }, etag: '5-abc' }],
  ['without one', { body: { a: [{}], b: { c: {} } } }],
  ['empty', { body: {} }],
  ['a body that ends like a version', { body: { a: { etag: 'x' }, etag: 'y' } }],
  ['a text that looks like one', { body: { a: ',"etag":"x"}}' }, etag: '1' }],
])('passed on as it came: %s', (_, answer) => {
  const found = unreadAnswer(textOf({ status: 200, ...answer }));
  expect(found?.bodyText).toBe(JSON.stringify(answer.body));
  expect([found?.status, found?.body, found?.etag]).toEqual([200, answer.body, answer.etag]);
});

test.each<readonly [string, string]>([
  ['another status', textOf({ status: 201, body: {} })],
  ['no body', textOf({ status: 200, etag: '1' })],
  ['a place behind the body', textOf({ status: 200, body: {}, location: 'http://docs/x' })],
  ['a place between body and version', textOf({ status: 200, body: {}, location: 'http://docs/x', etag: '1' })],
  ['a place behind the version', textOf({ status: 200, body: {}, etag: '1', location: 'x' })],
  ['the version first', textOf({ status: 200, etag: '1', body: {} })],
  ['an odd version', textOf({ status: 200, body: {}, etag: 'a"b' })],
  ['a list', textOf({ status: 200, body: [] })],
  ['a text', textOf({ status: 200, body: '{}' })],
  ['a problem', JSON.stringify({ problem: { kind: 'not-found' } })],
  ['nothing', ''],
])('read as ever: %s', (_, text) => {
  expect(unreadAnswer(text)).toBeUndefined();
});

test('whatever is found is what reading finds', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('}}', ',"etag":"', '"', '\\', '{"answer":{"status":200,"body":{'));
  const body = fc.dictionary(
    fc.oneof(text, fc.constant('etag')),
    fc.oneof(text, fc.object({ maxDepth: 2 }), fc.array(text)),
  );
  const answer = fc.record({ status: fc.constant(200), body, etag: text }, { requiredKeys: ['status', 'body'] });
  fc.assert(
    fc.property(answer, (given) => {
      const found = unreadAnswer(textOf(given));
      if (found === undefined) return given.etag !== undefined && /["\\\p{Cc}]|[\ud800-\udfff]/u.test(given.etag);
      return found.bodyText === JSON.stringify(given.body) && found.etag === given.etag;
    }),
  );
});
