import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { byOrder, orderKeyAt, orderKeyBetween } from './order-key.ts';

const id = (n: number): string => `s${String(n).padStart(9, '0')}`;

describe('order keys', () => {
  test('later means further down, whatever the ids', () => {
    const times = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '2026-06-01T00:00:00.000Z'];
    const keys = times.map((time, index) => orderKeyAt(time, id(9 - index)));
    expect([...keys].sort()).toEqual(keys);
  });

  test('any sequence of insertions gives the order that was asked for', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { minLength: 1, maxLength: 120 }), (places) => {
        const wanted: { id: string; order: string }[] = [];
        places.forEach((place, n) => {
          const at = place % (wanted.length + 1);
          const order = orderKeyBetween(wanted[at - 1]?.order, wanted[at]?.order, id(n));
          expect(order).toBeDefined();
          wanted.splice(at, 0, { id: id(n), order: order ?? '' });
        });
        expect([...wanted].sort(byOrder)).toEqual(wanted);
        expect(new Set(wanted.map(({ order }) => order)).size).toBe(wanted.length);
      }),
      { numRuns: 100 },
    );
  });

  test('two for one gap both have a place, and there is room between them', () => {
    const [low, high] = [orderKeyAt('2026-01-01T00:00:00.000Z', 'a1'), orderKeyAt('2026-01-01T00:00:00.000Z', 'b1')];
    const [first, second] = [orderKeyBetween(low, high, 'x1') ?? '', orderKeyBetween(low, high, 'y1') ?? ''];
    expect([low, first, second, high].sort()).toEqual([low, first, second, high]);
    expect(orderKeyBetween(first, second, 'z1')).toBeDefined();
  });

  test('two thousand insertions at one place fit; no key comes out where there is no room', () => {
    const low = orderKeyAt('2026-01-01T00:00:00.000Z', 'a1');
    let high = orderKeyAt('2026-01-01T00:00:00.001Z', 'b1');
    for (let n = 0; n < 2000; n += 1) {
      const key = orderKeyBetween(low, high, id(n));
      expect(key).toBeDefined();
      high = key ?? high;
    }
    expect(orderKeyBetween(low, low, 'x')).toBeUndefined();
    expect(orderKeyBetween(high, low, 'x')).toBeUndefined();
  });
});
