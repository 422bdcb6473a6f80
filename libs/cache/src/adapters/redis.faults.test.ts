import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import type { Cache } from '../port.ts';
import { RedisServer, redisIsHere } from './redis/server.testing.ts';
import { openRedisCache } from './redis.ts';

const minute = { ttlMs: 60_000 };
const timeoutMs = 250;
/** What an answer may take beyond its time on a busy machine. */
const slackMs = 1000;
const unavailable = { code: 'cache.unavailable' };

const timed = async (work: () => Promise<unknown>): Promise<{ readonly ms: number; readonly error: unknown }> => {
  const begun = performance.now();
  const error = await work().then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return { ms: performance.now() - begun, error };
};

/** All kinds of commands at once. */
const everyCall = (cache: Cache): readonly (() => Promise<unknown>)[] => [
  () => cache.get('k'),
  () => cache.getMany(['k', 'l']),
  () => cache.set('k', 1, minute),
  () => cache.delete('k'),
  () => cache.increment('c', minute),
  () => cache.take('b', { capacity: 1, refillPerSecond: 1 }),
  () => cache.acquire('l', 'me', 1000),
  () => cache.renew('l', 'me', 1000),
  () => cache.release('l', 'me'),
];

const expectAway = async (cache: Cache, withinMs: number): Promise<void> => {
  const answers = await Promise.all(everyCall(cache).map(timed));
  for (const { ms, error } of answers) {
    expect(error).toMatchObject(unavailable);
    expect(ms).toBeLessThan(withinMs);
  }
};

const untilBack = async (cache: Cache): Promise<void> => {
  for (;;) {
    const { error } = await timed(() => cache.get('k'));
    if (error === undefined) return;
    expect(error).toMatchObject(unavailable);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

test('nothing listens: opening ends in time, and every call is refused at once', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  server.close();
  await once(server, 'close');
  const opening = performance.now();
  const cache = await openRedisCache({ url: `redis://127.0.0.1:${port}`, openWithinMs: 100 });
  expect(performance.now() - opening).toBeLessThan(100 + slackMs);
  await expectAway(cache, slackMs);
  await cache.close();
  await expect(cache.get('k')).rejects.toThrow('closed');
});

test('something listens and is silent: no call waits for it', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => undefined).resume()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const cache = await openRedisCache({ url: `redis://127.0.0.1:${port}`, timeoutMs: 30, openWithinMs: 100 });
  await expectAway(cache, slackMs);
  // A connection that does not answer is not trusted to be one: the next probe has another.
  while (sockets.length < 3) await once(server, 'connection');
  await cache.close();
  for (const socket of sockets) socket.destroy();
  server.close();
});

const withServer = redisIsHere ? describe : describe.skip;

withServer(redisIsHere ? 'a server of its own' : 'SKIPPED: a server of its own (no redis-server here)', () => {
  const run = async (work: (cache: Cache, server: RedisServer, changes: boolean[]) => Promise<void>): Promise<void> => {
    const server = await RedisServer.start();
    const changes: boolean[] = [];
    const cache = await openRedisCache({ url: server.url, timeoutMs, onChange: (is) => changes.push(is) });
    try {
      await work(cache, server, changes);
    } finally {
      await cache.close();
      await server.dispose();
    }
  };

  test('killed: refused at once; started again, it is used again by itself', () =>
    run(async (cache, server, changes) => {
      await cache.set('k', 1, minute);
      const fence = (await cache.acquire('l', 'me', 60_000))?.fence ?? 0;
      await server.kill();
      await expectAway(cache, timeoutMs + slackMs);
      await expectAway(cache, slackMs);
      await server.start();
      await untilBack(cache);
      expect(await cache.get('k')).toBeUndefined();
      expect((await cache.acquire('l', 'you', 60_000))?.fence).toBeGreaterThan(fence);
      expect(changes).toEqual([true, false, true]);
    }));

  test('frozen: the first calls cost their time, later ones nothing; thawed, it is used again', () =>
    run(async (cache, server, changes) => {
      await cache.set('k', 1, minute);
      server.freeze();
      await expectAway(cache, timeoutMs + slackMs);
      const begun = performance.now();
      for (let round = 0; round < 20; round++) await expectAway(cache, slackMs);
      expect(performance.now() - begun).toBeLessThan(10 * timeoutMs);
      server.thaw();
      await untilBack(cache);
      expect(await cache.increment('after', minute)).toBe(1);
      expect(changes.at(-1)).toBe(true);
    }));

  test('a busy process does not take a server that has answered for a silent one', () =>
    run(async (cache, _server, changes) => {
      const asked = cache.set('k', 1, minute);
      await new Promise((resolve) => setImmediate(resolve));
      for (const until = performance.now() + 2 * timeoutMs; performance.now() < until; );
      await asked;
      expect(changes).toEqual([true]);
    }));

  test('full: what stores is refused, what reads goes on', () =>
    run(async (cache, server, changes) => {
      await server.kill();
      await server.start('--maxmemory', '1', '--maxmemory-policy', 'noeviction');
      await untilBack(cache);
      await expect(cache.set('k', 1, minute)).rejects.toMatchObject(unavailable);
      expect(await cache.get('k')).toBeUndefined();
      expect(changes).toEqual([true, false, true]);
    }));

  test('a password that is not right is an outage, not a crash', () =>
    run(async (cache, server) => {
      await server.kill();
      await server.start('--requirepass', 'secret');
      const other = await openRedisCache({ url: server.url, openWithinMs: 100 });
      await expectAway(other, slackMs);
      await expectAway(cache, timeoutMs + slackMs);
      await other.close();
      const known = await openRedisCache({ url: server.url.replace('//', '//:secret@') });
      await known.set('k', 1, minute);
      expect(await known.get('k')).toBe(1);
      await known.close();
    }));
});
