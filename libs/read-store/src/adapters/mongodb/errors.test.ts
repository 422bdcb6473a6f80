import { describe, expect, test } from '@jest/globals';
import {
  MongoBulkWriteError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoParseError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
} from 'mongodb';
import { isDuplicateKey, isWorthRepeating, refusedPositions, refusingIndex, translate } from './errors.ts';

const server = (code: number, labels: readonly string[] = []): MongoServerError => {
  const error = new MongoServerError({ message: `code ${code}`, code });
  for (const label of labels) error.addErrorLabel(label);
  return error;
};
const unavailable = expect.objectContaining({ code: 'read_store.unavailable' });

describe('failures of the driver and the server', () => {
  test.each([
    ['no server', new MongoServerSelectionError('none', expect.anything() as never)],
    ['network', new MongoNetworkError('gone')],
    ['socket timeout', new MongoNetworkTimeoutError('late')],
    ['closed', new MongoTopologyClosedError()],
    ['a bare socket error', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' })],
    ['too slow', server(50)],
    ['no majority in time', server(64)],
    ['no primary', server(10107)],
    ['shutting down', server(91)],
    ['stepping down', server(189)],
    ['disk full', server(14031)],
    ['wrong password', server(18)],
    ['not allowed', server(13)],
    ['may be tried again', server(12345, ['RetryableWriteError'])],
  ])('%s is unavailability', (_, error) => {
    expect(translate(error)).toEqual(unavailable);
    expect((translate(error) as Error).cause).toBe(error);
  });

  test('mistakes stay what they are', () => {
    for (const error of [new TypeError('x'), server(2), server(11000), new MongoParseError('x')])
      expect(translate(error)).toBe(error);
    expect(translate(server(10334))).toBeInstanceOf(RangeError);
  });

  test('a read is repeated after a broken connection and a change of primaries, not when it was too slow', () => {
    for (const error of [new MongoNetworkError('gone'), server(10107), server(189), server(134)])
      expect(isWorthRepeating(error)).toBe(true);
    for (const error of [server(50), server(13), server(2), new TypeError('x'), new MongoTopologyClosedError()])
      expect(isWorthRepeating(error)).toBe(false);
  });

  test('refusals of unique indexes are known by name, in single writes and in bulks', () => {
    const message =
      'E11000 duplicate key error collection: bindery.content.spaces.v1 index: unique:by name dup key: { u.slug: "x" }';
    expect(isDuplicateKey(new MongoServerError({ message, code: 11000 }))).toBe(true);
    expect(refusingIndex(message)).toBe('unique:by name');
    expect(refusingIndex('something else')).toBeUndefined();
    const result = { getWriteConcernError: () => undefined } as never;
    const bulk = (codes: readonly number[]): MongoBulkWriteError => {
      const error = new MongoBulkWriteError({ message: 'bulk', code: codes[0] ?? 0 }, result);
      error.writeErrors = codes.map((code, index) => ({ code, index: index * 3 })) as never;
      return error;
    };
    expect(refusedPositions(bulk([11000, 11000]))).toEqual([0, 3]);
    expect(() => refusedPositions(bulk([11000, 64]))).toThrow('bulk');
  });
});
