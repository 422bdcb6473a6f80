import { describe, expect, test } from '@jest/globals';
import type { Scalar } from '../../port.ts';
import { boundsOfType, decodeText, encode, encodeKey, encodeText } from './encode.ts';

const TEXTS = [
  '',
  '\0',
  ' ',
  '0',
  'a',
  'ab',
  'b',
  '~',
  'é',
  '文',
  '\ue000',
  '\ufffe',
  '\uffff',
  '\u{10000}',
  '\u{1f600}',
  '\u{10ffff}',
];
const NUMBERS = [-1.7976931348623157e308, -2, -1.5, -5e-324, 0, 5e-324, 0.1, 1, 2, 10, 1e21, 1.7976931348623157e308];
/** In the order of the port. */
const ORDERED: readonly Scalar[] = [null, ...NUMBERS, ...TEXTS, false, true];

const byBytes = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));
const byUnits = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

describe('index values', () => {
  test.each([
    ['bytes', byBytes],
    ['UTF-16 units', byUnits],
  ])('are in the order of the port when compared by %s', (_, compare) => {
    const encoded = ORDERED.map(encode);
    expect(encoded.toReversed().toSorted(compare)).toEqual(encoded);
    expect(new Set(encoded).size).toBe(encoded.length);
  });

  test('minus zero is zero', () => {
    expect(encode(-0)).toBe(encode(0));
  });

  test('each lies within the bounds of its own type and of no other', () => {
    for (const bound of ['x', 1, true] as const) {
      const [from, end] = boundsOfType(bound);
      const inside = ORDERED.filter((value) => encode(value) >= from && encode(value) < end);
      expect(inside).toEqual(ORDERED.filter((value) => typeof value === typeof bound));
    }
  });

  test('text comes back, halves of pairs too', () => {
    for (const text of [...TEXTS, '\ud800', 'a\udc00b', '\ud83d\ude00\ud83d'])
      expect(decodeText(encodeText(text))).toBe(text);
  });
});

test('keys of stored documents have no dots and no dollars, and differ where the names do', () => {
  const names = ['a.b', 'a/b', 'a~b', 'a~0b', 'a$b', '$a', 'a~2b', '__proto__'];
  const keys = names.map(encodeKey);
  expect(new Set(keys).size).toBe(names.length);
  for (const key of keys) expect(key).not.toMatch(/[.$]/);
});
