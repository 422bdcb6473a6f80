import type { Cache } from '@bindery/cache';
import { createMemoryCache } from '@bindery/cache/memory';
import { createRepeatedWarnings, noopTelemetry } from '@bindery/telemetry';
import { expect, test } from '@jest/globals';
import { createEpochs } from './epochs.ts';
import { localWhenAway } from './local-limits.ts';
import { tolerant } from './tolerant-cache.ts';

const { logger } = noopTelemetry();
const quiet = createRepeatedWarnings(logger);

/** A cache in which everything throws while it is away. */
const switchable = () => {
  const cache = createMemoryCache();
  const state = { away: false };
  const guarded = Object.fromEntries(
    Object.entries(cache).map(([name, method]) => [
      name,
      async (...args: unknown[]) => {
        if (state.away) throw new Error('away');
        return Reflect.apply(method, cache, args);
      },
    ]),
  ) as unknown as Cache;
  return { cache, guarded, state };
};

test('without the cache reads find nothing, writes are left out, and nothing throws', async () => {
  const { guarded, state } = switchable();
  const cache = tolerant(guarded, quiet);
  await cache.set('k', 1, { ttlMs: 1000 });
  state.away = true;
  expect(await cache.get('k')).toBeUndefined();
  await cache.set('k', 2, { ttlMs: 1000 });
  await cache.replace('k', 3, { ttlMs: 1000 });
  await cache.bump('n', { ttlMs: 1000 });
});

test('that it is away is said once, then counted, apart from what is voided later', async () => {
  const { guarded, state } = switchable();
  const said: [string, object | undefined][] = [];
  const warnings = createRepeatedWarnings(
    { ...logger, warn: (message, fields) => said.push([message, fields]) },
    60_000,
  );
  const cache = tolerant(guarded, warnings);
  state.away = true;
  for (let n = 0; n < 20; n += 1) {
    await cache.get(`k${n}`);
    await cache.bump(`n${n}`, { ttlMs: 1000 });
  }
  expect(said.map(([message]) => message)).toEqual([
    'the cache is away',
    'what others remember is voided when the cache is back',
  ]);
  warnings.stop();
  expect(said.slice(2).map(([, fields]) => fields)).toMatchObject([{ repeated: 19 }, { key: 'n19', repeated: 19 }]);
});

test('what was to be voided meanwhile is void at once here, and for others when the cache is back', async () => {
  const { cache: direct, guarded, state } = switchable();
  const mine = createEpochs(tolerant(guarded, quiet), 'e:');
  const others = createEpochs(tolerant(direct, quiet), 'e:');
  const before = await mine.current('user:u');
  state.away = true;
  await mine.replace('user:u');
  expect(await others.peek('user:u')).toBe(before);
  state.away = false;
  expect(await mine.peek('user:u')).toBeUndefined();
  while ((await others.peek('user:u')) === before) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await others.current('user:u')).not.toBe(before);
});

test('limits go on in this process, and are taken whole from the cache when it is back', async () => {
  const { guarded, state } = switchable();
  const limits = localWhenAway(guarded, logger);
  const bucket = { capacity: 2, refillPerSecond: 0.001 };
  const take = async () => (await limits.take('k', bucket)).allowed;
  state.away = true;
  expect([await take(), await take(), await take()]).toEqual([true, true, false]);
  expect([await limits.increment('n', { ttlMs: 1000 }), await limits.increment('n', { ttlMs: 1000 })]).toEqual([1, 2]);
  expect(await limits.acquire('l', 'a', 1000)).toBeDefined();
  expect(await limits.acquire('l', 'b', 1000)).toBeUndefined();
  state.away = false;
  expect([await take(), await take(), await take()]).toEqual([true, true, false]);
});

test('a bucket of this process fills at its rate', async () => {
  const limits = localWhenAway({ ...createMemoryCache(), take: () => Promise.reject(new Error('away')) }, logger);
  const bucket = { capacity: 1, refillPerSecond: 100 };
  expect((await limits.take('k', bucket)).allowed).toBe(true);
  const refused = await limits.take('k', bucket);
  expect(refused.allowed).toBe(false);
  expect(refused.retryAfterMs).toBeLessThanOrEqual(10);
  const begun = performance.now();
  while (!(await limits.take('k', bucket)).allowed) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(performance.now() - begun).toBeLessThan(5000);
});
