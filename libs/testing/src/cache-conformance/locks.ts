import { expect, test } from '@jest/globals';
import { type CacheHarness, withCaches } from './harness.ts';

/** Locks with fencing numbers. */
export const locks = (harness: CacheHarness): void => {
  test('of 20 contenders one gets the lock; the next one has a higher fence', () =>
    withCaches(harness, async ({ cache, other }) => {
      let last = 0;
      for (let round = 0; round < 5; round++) {
        const answers = await Promise.all(
          Array.from({ length: 20 }, async (_, index) => ({
            holder: `h${index}`,
            lock: await (index % 2 ? cache : other).acquire('l', `h${index}`, 60_000),
          })),
        );
        const winners = answers.filter(({ lock }) => lock !== undefined);
        expect(winners.length).toBe(1);
        expect(winners[0]?.lock?.fence).toBeGreaterThan(last);
        last = winners[0]?.lock?.fence ?? 0;
        await cache.release('l', winners[0]?.holder ?? '');
      }
    }));

  test('only the holder renews and releases', () =>
    withCaches(harness, async ({ cache, other }) => {
      await cache.acquire('l', 'me', 60_000);
      expect(await cache.acquire('l', 'me', 60_000)).toBeUndefined();
      expect(await other.renew('l', 'you', 60_000)).toBe(false);
      await other.release('l', 'you');
      expect(await other.acquire('l', 'you', 60_000)).toBeUndefined();
      expect(await cache.renew('l', 'me', 60_000)).toBe(true);
      await cache.release('l', 'me');
      expect(await cache.renew('l', 'me', 60_000)).toBe(false);
      expect(await other.acquire('l', 'you', 60_000)).toBeDefined();
    }));

  test('a lock ends by itself; renewing prolongs it; a late holder cannot take it back', () =>
    withCaches(harness, async ({ cache, other, place }) => {
      const first = await cache.acquire('l', 'me', 400);
      await place.elapse(250);
      expect(await cache.renew('l', 'me', 400)).toBe(true);
      await place.elapse(250);
      expect(await other.acquire('l', 'you', 60_000)).toBeUndefined();
      await place.elapse(250);
      const second = await other.acquire('l', 'you', 60_000);
      expect(second?.fence).toBeGreaterThan(first?.fence ?? Number.POSITIVE_INFINITY);
      expect(await cache.renew('l', 'me', 60_000)).toBe(false);
      await cache.release('l', 'me');
      expect(await cache.acquire('l', 'third', 60_000)).toBeUndefined();
    }));
};
