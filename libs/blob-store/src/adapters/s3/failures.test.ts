import { expect, test } from '@jest/globals';
import { isMissing, kindOfFailure, S3Refusal, translated } from './failures.ts';

const table: readonly (readonly [string, unknown, 'transient' | 'refused'])[] = [
  ['overloaded', new S3Refusal(503, 'SlowDown'), 'transient'],
  ['broken', new S3Refusal(500, 'InternalError'), 'transient'],
  ['too many', new S3Refusal(429, 'TooManyRequests'), 'transient'],
  ['bytes changed on the way', new S3Refusal(400, 'XAmzContentSHA256Mismatch'), 'transient'],
  ['bytes came too slowly', new S3Refusal(400, 'RequestTimeout'), 'transient'],
  ['wrong key', new S3Refusal(403, 'SignatureDoesNotMatch'), 'refused'],
  ['no bucket', new S3Refusal(404, 'NoSuchBucket'), 'refused'],
  ['moved', new S3Refusal(301, 'PermanentRedirect'), 'refused'],
  ['refused by the network', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), 'transient'],
  ['our own fault', new TypeError('x'), 'refused'],
];

test.each(table)('%s', (_name, error, kind) => {
  expect(kindOfFailure(error)).toBe(kind);
  expect(translated(error)).toMatchObject({ code: 'blob_store.unavailable' });
});

test('only a 404 is missing', () => {
  expect(isMissing(new S3Refusal(404, 'NoSuchKey'))).toBe(true);
  expect(isMissing(new S3Refusal(403, 'AccessDenied'))).toBe(false);
});
