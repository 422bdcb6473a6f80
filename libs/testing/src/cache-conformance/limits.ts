import { expect, test } from '@jest/globals';
import { type CacheHarness, withCaches } from './harness.ts';

/** So slow that nothing is refilled while a test runs. */
const SLOW = 1 / 100_000;

/** Counters and token buckets. */
export const limits = (harness: CacheHarness): void => {
  test('a counter counts each use once and starts anew after its time', () =>
    withCaches(harness, async ({ cache, other, place }) => {
      const ttlMs = 300;
      const counts = await Promise.all(
        Array.from({ length: 50 }, (_, index) => (index % 2 ? cache : other).increment('c', { ttlMs: 60_000 })),
      );
      expect(counts.toSorted((left, right) => left - right)).toEqual(
        Array.from({ length: 50 }, (_, index) => index + 1),
      );
      expect(await cache.increment('c', { ttlMs: 60_000, by: 10 })).toBe(60);
      expect(await cache.increment('short', { ttlMs, by: 3 })).toBe(3);
      await place.elapse(200);
      expect(await cache.increment('short', { ttlMs })).toBe(4);
      await place.elapse(200); // the time runs from the first use
      expect(await cache.increment('short', { ttlMs })).toBe(1);
    }));

  test('50 takers at once: exactly as many as there are tokens', () =>
    withCaches(harness, async ({ cache, other }) => {
      const bucket = { capacity: 20, refillPerSecond: SLOW };
      const taken = await Promise.all(
        Array.from({ length: 50 }, (_, index) => (index % 2 ? cache : other).take('b', bucket)),
      );
      expect(taken.filter(({ allowed }) => allowed).length).toBe(20);
      const left = taken.filter(({ allowed }) => allowed).map(({ remaining }) => remaining);
      expect(left.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index));
      for (const refused of taken.filter(({ allowed }) => !allowed)) {
        expect(refused.remaining).toBe(0);
        expect(refused.retryAfterMs).toBeGreaterThan(0);
        expect(refused.resetMs).toBeGreaterThanOrEqual(refused.retryAfterMs);
      }
      expect((await cache.take('another', bucket)).remaining).toBe(19);
    }));

  test('tokens come back at their rate and never above the capacity', () =>
    withCaches(harness, async ({ cache, place }) => {
      const bucket = { capacity: 4, refillPerSecond: 10 };
      for (let count = 0; count < 4; count++) expect((await cache.take('b', bucket)).allowed).toBe(true);
      await place.elapse(250);
      expect((await cache.take('b', { ...bucket, cost: 2 })).allowed).toBe(true);
      await place.elapse(5000);
      expect((await cache.take('b', bucket)).remaining).toBe(3);
    }));

  test('a cost is taken whole or not at all; one above the capacity never', () =>
    withCaches(harness, async ({ cache }) => {
      const bucket = { capacity: 10, refillPerSecond: SLOW };
      expect(await cache.take('b', { ...bucket, cost: 7 })).toMatchObject({
        allowed: true,
        remaining: 3,
        retryAfterMs: 0,
      });
      expect(await cache.take('b', { ...bucket, cost: 4 })).toMatchObject({ allowed: false, remaining: 3 });
      expect(await cache.take('b', { ...bucket, cost: 3 })).toMatchObject({ allowed: true, remaining: 0 });
      expect(await cache.take('c', { ...bucket, cost: 11 })).toMatchObject({
        allowed: false,
        remaining: 10,
        resetMs: 0,
      });
      expect((await cache.take('c', bucket)).allowed).toBe(true);
      await expect(cache.take('d', { capacity: 0, refillPerSecond: 1 })).rejects.toThrow(RangeError);
      await expect(cache.take('d', { capacity: 1, refillPerSecond: 0 })).rejects.toThrow(RangeError);
    }));
};
