import { expect, test } from '@jest/globals';
import { seededRandom } from '../seeded-random.ts';
import { type CacheHarness, withCaches } from './harness.ts';

const minute = { ttlMs: 60_000 };

/** Stored values: expiry, versions, isolation. */
export const values = (harness: CacheHarness): void => {
  test('JSON comes back equal, through another handle too; what is absent is undefined', () =>
    withCaches(harness, async ({ cache, other }) => {
      const samples: readonly unknown[] = [
        null,
        false,
        0,
        '',
        'Größe 文書 \u{1f600}',
        [],
        {},
        { a: [1, { b: null }] },
        'x'.repeat(1_000_000),
      ];
      for (const [index, value] of samples.entries()) await cache.set(`k${index}`, value, minute);
      for (const [index, value] of samples.entries()) expect(await other.get(`k${index}`)).toEqual(value);
      expect(await cache.get('absent')).toBeUndefined();
      expect(await other.getMany(['k1', 'absent', 'k2', 'k1'])).toEqual([false, undefined, 0, false]);
      expect(await cache.getMany([])).toEqual([]);
      await other.delete('k1');
      await other.delete('k1');
      expect(await cache.get('k1')).toBeUndefined();
    }));

  test('any text is a key and no more than that', () =>
    withCaches(harness, async ({ cache }) => {
      const keys = ['__proto__', 'constructor', 'a b\r\nSET x', '*', '', '文書', 'k'.repeat(2000)];
      for (const key of keys) expect(await cache.get(key)).toBeUndefined();
      for (const key of keys) await cache.set(key, { key }, minute);
      for (const key of keys) expect(await cache.get(key)).toEqual({ key });
      await cache.set('hostile', JSON.parse('{"__proto__":{"polluted":true}}'), minute);
      expect(JSON.stringify(await cache.get('hostile'))).toBe('{"__proto__":{"polluted":true}}');
      expect(Reflect.get({}, 'polluted')).toBeUndefined();
    }));

  test('nobody changes what others read', () =>
    withCaches(harness, async ({ cache }) => {
      const mine = { list: [1], inner: { x: 1 } };
      await cache.set('k', mine, minute);
      mine.list.push(2);
      mine.inner.x = 2;
      const read = await cache.get<typeof mine>('k');
      expect(read).toEqual({ list: [1], inner: { x: 1 } });
      try {
        read?.list.push(3);
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError); // frozen: refusing is as good as copying
      }
      expect(await cache.get('k')).toEqual({ list: [1], inner: { x: 1 } });
    }));

  test('a value is gone when its time is over, and not before', () =>
    withCaches(harness, async ({ cache, place }) => {
      await cache.set('short', 1, { ttlMs: 200 });
      await cache.set('long', 2, minute);
      expect(await cache.get('short')).toBe(1);
      await place.elapse(250);
      expect(await cache.getMany(['short', 'long'])).toEqual([undefined, 2]);
      await cache.set('short', 3, { ttlMs: 200, version: 0 });
      expect(await cache.get('short')).toBe(3);
    }));

  test('an older version never replaces a newer one; among equals the last wins', () =>
    withCaches(harness, async ({ cache, other, place }) => {
      await cache.set('k', 'five', { ...minute, version: 5 });
      await other.set('k', 'four', { ...minute, version: 4 });
      await other.set('k', 'none', minute);
      expect(await cache.get('k')).toBe('five');
      await other.set('k', 'five again', { ...minute, version: 5 });
      expect(await cache.get('k')).toBe('five again');
      await cache.set('k', 'six', { ttlMs: 100, version: 6 });
      await place.elapse(150);
      await cache.set('k', 'one', { ...minute, version: 1 });
      expect(await cache.get('k')).toBe('one');
    }));

  test('fills in any order and at once: the highest version stays', () =>
    withCaches(harness, async ({ cache, other }) => {
      const random = seededRandom(11);
      const fills = random.shuffle(
        Array.from({ length: 400 }, (_, index) => ({ key: `k${index % 8}`, version: index >> 3 })),
      );
      await Promise.all(
        fills.map(({ key, version }) =>
          (random.below(2) === 0 ? cache : other).set(key, { version }, { ...minute, version }),
        ),
      );
      const keys = Array.from({ length: 8 }, (_, index) => `k${index}`);
      expect(await cache.getMany(keys)).toEqual(keys.map(() => ({ version: 49 })));
    }));

  test('a time to live is always given and bounded; values are JSON', () =>
    withCaches(harness, async ({ cache }) => {
      for (const ttlMs of [0, -1, 86_400_001, Number.NaN, Number.POSITIVE_INFINITY]) {
        await expect(cache.set('k', 1, { ttlMs })).rejects.toThrow(RangeError);
        await expect(cache.increment('k', { ttlMs })).rejects.toThrow(RangeError);
        await expect(cache.acquire('k', 'me', ttlMs)).rejects.toThrow(RangeError);
      }
      await expect(cache.set('k', undefined, minute)).rejects.toThrow(TypeError);
      await expect(cache.set('k', 1n, minute)).rejects.toThrow(TypeError);
    }));
};
