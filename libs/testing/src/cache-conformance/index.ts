import { describe, expect, test } from '@jest/globals';
import type { CacheHarness } from './harness.ts';
import { limits } from './limits.ts';
import { locks } from './locks.ts';
import { values } from './values.ts';

export type { CacheHarness, CachePlace } from './harness.ts';

/** Everything that the cache port promises; every adapter runs it. */
export const describeCacheConformance = (name: string, harness: CacheHarness): void => {
  describe(`cache: ${name}`, () => {
    describe('values', () => values(harness));
    describe('limits', () => limits(harness));
    describe('locks', () => locks(harness));

    test('a closed cache refuses every call, and closing twice is fine', async () => {
      const place = await harness.createPlace();
      const cache = await place.open();
      await cache.close();
      await cache.close();
      const calls = [
        () => cache.get('k'),
        () => cache.getMany(['k']),
        () => cache.set('k', 1, { ttlMs: 1000 }),
        () => cache.delete('k'),
        () => cache.increment('k', { ttlMs: 1000 }),
        () => cache.take('k', { capacity: 1, refillPerSecond: 1 }),
        () => cache.acquire('k', 'me', 1000),
        () => cache.renew('k', 'me', 1000),
        () => cache.release('k', 'me'),
      ];
      for (const call of calls) await expect(call()).rejects.toThrow('closed');
      await place.dispose();
    });
  });
};
