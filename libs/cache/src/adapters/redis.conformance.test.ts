import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describeCacheConformance } from '@bindery/testing';
import { describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import type { Cache } from '../port.ts';
import { openRedisCache } from './redis.ts';

const url = process.env.REDIS_URL ?? '';
/** Of a user who may do more than the cache needs, where that one may not. */
const adminUrl = process.env.REDIS_ADMIN_URL ?? url;

const admin = async <T>(work: (client: Redis) => Promise<T>): Promise<T> => {
  const client = new Redis(adminUrl);
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
};

const removeAll = (prefix: string): Promise<void> =>
  admin(async (client) => {
    for await (const keys of client.scanStream({ match: `${prefix}*`, count: 1000 }))
      if (keys.length > 0) await client.del(keys);
  });

/** Runs `work` with a cache of its own. */
const withCache = async (
  options: Partial<Parameters<typeof openRedisCache>[0]>,
  work: (cache: Cache, prefix: string) => Promise<void>,
): Promise<void> => {
  const prefix = `test-${randomUUID()}:`;
  // A busy machine that runs other tests is no broken server.
  const cache = await openRedisCache({ url, prefix, timeoutMs: 10_000, ...options });
  try {
    await work(cache, prefix);
  } finally {
    await cache.close();
    await removeAll(prefix);
  }
};

const suite = (): void => {
  describeCacheConformance('redis', {
    createPlace: async () => {
      const prefix = `test-${randomUUID()}:`;
      return {
        open: () => openRedisCache({ url, prefix, timeoutMs: 10_000 }),
        elapse: (ms) =>
          admin(async (client) => {
            const now = async (): Promise<number> => {
              const [seconds, micros] = await client.time();
              return Number(seconds) * 1000 + Number(micros) / 1000;
            };
            const until = (await now()) + ms;
            for (let left = ms; left > 0; left = until - (await now())) await delay(Math.ceil(left));
          }),
        dispose: () => removeAll(prefix),
      };
    },
  });

  const minute = { ttlMs: 60_000 };

  test('a value that is too large is not kept, and takes out an older one, but never a newer one', () =>
    withCache({ maxValueBytes: 100 }, async (cache) => {
      await cache.set('k', 'small', { ...minute, version: 2 });
      await cache.set('k', 'x'.repeat(200), { ...minute, version: 1 });
      expect(await cache.get('k')).toBe('small');
      await cache.set('k', 'x'.repeat(200), { ...minute, version: 2 });
      expect(await cache.get('k')).toBeUndefined();
    }));

  test('a server that forgot the scripts is given them again', () =>
    withCache({}, async (cache) => {
      expect(await cache.increment('c', minute)).toBe(1);
      await admin((client) => client.script('FLUSH'));
      const counts = await Promise.all([1, 2, 3].map(() => cache.increment('c', minute)));
      expect(counts).toEqual([2, 3, 4]);
    }));

  test('the fence grows after the end of a lock, and after the server lost everything', () =>
    withCache({}, async (cache, prefix) => {
      const first = await cache.acquire('l', 'me', 60_000);
      await cache.release('l', 'me');
      const second = await cache.acquire('l', 'you', 60_000);
      await removeAll(prefix);
      const third = await cache.acquire('l', 'me', 60_000);
      const fences = [first, second, third].map((lock) => lock?.fence ?? 0);
      expect(fences.toSorted((a, b) => a - b)).toEqual(fences);
      expect(new Set(fences).size).toBe(3);
      expect(fences.every((fence) => Number.isSafeInteger(fence) && fence > 0)).toBe(true);
    }));

  test('every key has a time to live', () =>
    withCache({}, async (cache, prefix) => {
      await cache.set('k', 1, minute);
      await cache.increment('k', { ttlMs: 1000.5 });
      await cache.take('k', { capacity: 1, refillPerSecond: 1 / 1e9 });
      await cache.acquire('k', 'me', 1000);
      await cache.acquire('released', 'me', 1000);
      await cache.release('released', 'me');
      await admin(async (client) => {
        const keys = await client.keys(`${prefix}*`);
        expect(keys.length).toBe(5);
        for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0);
      });
    }));
};

const withServer = url === '' ? describe.skip : describe;
withServer(url === '' ? 'SKIPPED: Redis (REDIS_URL is not set)' : 'Redis', suite);
