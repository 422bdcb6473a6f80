import { describeCacheConformance } from '@bindery/testing';
import { expect, test } from '@jest/globals';
import { createMemoryCache } from './memory.ts';

describeCacheConformance('memory', {
  createPlace: async () => {
    let time = 0;
    const cache = createMemoryCache({ now: () => time });
    return {
      open: async () => cache,
      elapse: async (ms) => {
        time += ms;
      },
      dispose: async () => undefined,
    };
  },
});

const minute = { ttlMs: 60_000 };

test('the least recently used values go first when there are too many', async () => {
  const cache = createMemoryCache({ maxEntries: 3 });
  for (const key of ['a', 'b', 'c']) await cache.set(key, key, minute);
  await cache.get('a');
  await cache.set('d', 'd', minute);
  expect(await cache.getMany(['a', 'b', 'c', 'd'])).toEqual(['a', undefined, 'c', 'd']);
});

test('or too large together; one that is too large alone is not kept and evicts nothing', async () => {
  const cache = createMemoryCache({ maxBytes: 10_000 });
  for (let index = 0; index < 10; index++) await cache.set(`k${index}`, 'x'.repeat(1000), minute);
  const kept = (await cache.getMany(Array.from({ length: 10 }, (_, index) => `k${index}`))).filter(
    (value) => value !== undefined,
  );
  expect(kept.length).toBe(4);
  await cache.set('huge', 'x'.repeat(20_000), minute);
  expect(await cache.get('huge')).toBeUndefined();
  expect(await cache.get('k9')).toBeDefined();
});

test('a reader gets the frozen value itself, however deep', async () => {
  const cache = createMemoryCache();
  await cache.set('k', { teams: [{ id: 't' }] }, minute);
  const first = await cache.get<{ teams: { id: string }[] }>('k');
  expect(await cache.get('k')).toBe(first);
  expect(() => first?.teams.push({ id: 'u' })).toThrow(TypeError);
  const team = first?.teams[0];
  expect(() => Object.assign(team ?? {}, { id: 'u' })).toThrow(TypeError);
});

test('held locks are not evicted: with all of them held, a new one is refused until one ends', async () => {
  let time = 0;
  const cache = createMemoryCache({ maxKeys: 2, now: () => time });
  await cache.acquire('a', 'me', 1000);
  await cache.acquire('b', 'me', 5000);
  expect(await cache.acquire('c', 'me', 1000)).toBeUndefined();
  expect(await cache.renew('b', 'me', 5000)).toBe(true);
  time = 1000;
  expect(await cache.acquire('c', 'me', 1000)).toBeDefined();
  expect(await cache.acquire('b', 'you', 1000)).toBeUndefined();
});

test('fencing numbers grow over restarts', async () => {
  const before = await createMemoryCache({ fenceBase: 41 }).acquire('l', 'me', 1000);
  const after = await createMemoryCache().acquire('l', 'me', 1000);
  expect(before?.fence).toBe(42);
  expect(after?.fence).toBeGreaterThan(1_700_000_000_000_000);
});
