import { type Cache, CacheUnavailable } from '@bindery/cache';
import { createMemoryCache } from '@bindery/cache/memory';
import { noopTelemetry } from '@bindery/telemetry';
import { until } from '@bindery/testing/event-sourcing';
import { expect, test } from '@jest/globals';
import { withLease } from './lease.ts';

const { logger } = noopTelemetry();
const never = new AbortController().signal;

/** A cache that can be away. */
const setup = () => {
  const cache = createMemoryCache();
  const state = { away: false };
  const check = (): void => {
    if (state.away) throw new CacheUnavailable('switched off');
  };
  const guarded: Cache = {
    ...cache,
    async acquire(...args) {
      check();
      return cache.acquire(...args);
    },
    async renew(...args) {
      check();
      return cache.renew(...args);
    },
    async release(...args) {
      check();
      return cache.release(...args);
    },
  };
  const lease = (holder: string, harmlessTwice: boolean) => ({
    ...{ cache: guarded, key: 'k', termMs: 90, logger, holder, harmlessTwice },
  });
  /** Works until told, or until the lease is lost. */
  const worker = (holder: string, harmlessTwice: boolean) => {
    const stop = Promise.withResolvers<void>();
    const seen = { working: false, lost: false, fence: 0 };
    const done = withLease(lease(holder, harmlessTwice), never, async ({ fence, signal }) => {
      Object.assign(seen, { working: true, fence });
      signal.addEventListener('abort', () => {
        seen.lost = true;
        stop.resolve();
      });
      await stop.promise;
      seen.working = false;
    });
    return { seen, done, stop: () => stop.resolve() };
  };
  return { cache, state, lease, worker };
};

test('work that must not be done twice waits while the cache is away', async () => {
  const { state, lease, worker } = setup();
  const before = worker('a', false);
  await until('it works', () => before.seen.working);
  state.away = true;
  await until('it has stopped', () => !before.seen.working);
  expect(await before.done).toBe(true);
  await expect(withLease(lease('b', false), never, async () => undefined)).rejects.toMatchObject({
    code: 'cache.unavailable',
  });
  state.away = false;
  await until('it is taken up again by somebody', () => withLease(lease('b', false), never, async () => undefined));
});

test('work that is harmless twice goes on in every process, and in one when the cache is back', async () => {
  const { cache, state, worker } = setup();
  const holder = worker('a', true);
  await until('it works', () => holder.seen.working);
  state.away = true;
  const other = worker('b', true);
  await until('the other works too', () => other.seen.working);
  expect(other.seen.fence).toBeGreaterThan(1_700_000_000_000_000);
  const began = performance.now();
  await until('two terms have passed', () => performance.now() - began > 180);
  expect([holder.seen.working, other.seen.working]).toEqual([true, true]);
  state.away = false;
  await until('one has given up', () => holder.seen.lost || other.seen.lost);
  const left = holder.seen.lost ? other : holder;
  const again = performance.now();
  await until('two terms have passed', () => performance.now() - again > 180);
  expect(left.seen.working).toBe(true);
  expect(await cache.acquire('k', 'c', 1000)).toBeUndefined();
  for (const one of [holder, other]) one.stop();
  expect(await Promise.all([holder.done, other.done])).toEqual([true, true]);
});

test('a cache that has lost everything does not stop it either', async () => {
  const { cache, worker } = setup();
  const holder = worker('a', true);
  await until('it works', () => holder.seen.working);
  await cache.release('k', 'a');
  await until('it has asked again', () => cache.renew('k', 'a', 90));
  expect(holder.seen.lost).toBe(false);
  holder.stop();
  await holder.done;
});
