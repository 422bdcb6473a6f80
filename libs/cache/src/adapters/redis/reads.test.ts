import { until } from '@bindery/testing/event-sourcing';
import { describe, expect, test } from '@jest/globals';
import type { Cache } from '../../port.ts';
import { openRedisCache } from '../redis.ts';
import { RedisServer, redisIsHere } from './server.testing.ts';

const minute = { ttlMs: 60_000 };
const rights = '~bindery:* -@all +set +del +getrange +evalsha +eval';

/** How often the server was given a command. */
const callsOf = async (server: RedisServer, command: string): Promise<number> => {
  const told = String(await server.tell('INFO', 'commandstats'));
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(told)?.[1] ?? 0);
};

const run = async (
  options: { readonly server?: readonly string[]; readonly user?: string },
  work: (cache: Cache, server: RedisServer) => Promise<void>,
): Promise<void> => {
  const server = await RedisServer.start();
  try {
    if (options.server !== undefined) {
      await server.kill();
      await server.start(...options.server);
    }
    if (options.user !== undefined)
      await server.tell('ACL', 'SETUSER', 'some', 'on', '>secret', ...options.user.split(' '));
    const url = options.user === undefined ? server.url : server.url.replace('//', '//some:secret@');
    const cache = await openRedisCache({ url, timeoutMs: 2000 });
    try {
      await work(cache, server);
    } finally {
      await cache.close();
    }
  } finally {
    await server.dispose();
  }
};

const withServer = redisIsHere ? describe : describe.skip;
withServer(redisIsHere ? 'reads of one turn' : 'SKIPPED: reads of one turn (no redis-server here)', () => {
  const readAll = (cache: Cache): Promise<unknown> =>
    Promise.all([cache.getMany(['a', 'b', 'a']), cache.get('b'), cache.get('missing'), cache.getMany([])]);
  const expected = [[{ n: 1 }, 2, { n: 1 }], 2, undefined, []];
  const store = async (cache: Cache): Promise<void> => {
    await cache.set('a', { n: 1 }, minute);
    await cache.set('b', 2, minute);
  };

  test('are one command, later ones another, and no reader shares its value with another', () =>
    run({}, async (cache, server) => {
      await store(cache);
      expect(await readAll(cache)).toEqual(expected);
      expect([await callsOf(server, 'mget'), await callsOf(server, 'get')]).toEqual([1, 0]);
      const [one, other] = await cache.getMany(['a', 'a']);
      expect(one).not.toBe(other);
      expect(await callsOf(server, 'mget')).toBe(2);
    }));

  test('are as many commands as there are times 500 keys', () =>
    run({}, async (cache, server) => {
      await cache.set('k1100', 'last', minute);
      const values = await cache.getMany(Array.from({ length: 1101 }, (_, index) => `k${index}`));
      expect(values.flatMap((value, index) => (value === undefined ? [] : [[index, value]]))).toEqual([[1100, 'last']]);
      expect(await callsOf(server, 'mget')).toBe(3);
    }));

  test('see what was stored before them, not what was being read then', () =>
    run({}, async (cache) => {
      await cache.set('a', 1, minute);
      const before = cache.get('a');
      await cache.set('a', 2, minute);
      expect(await cache.get('a')).toBe(2);
      expect([1, 2]).toContain(await before);
    }));

  test('are made one by one for a user who may do no more, who is refused together but once', () =>
    run({ user: `${rights} +get` }, async (cache, server) => {
      await store(cache);
      expect([await readAll(cache), await readAll(cache)]).toEqual([expected, expected]);
      const told = String(await server.tell('INFO', 'commandstats'));
      expect(told).toMatch(/cmdstat_mget:calls=0,.*rejected_calls=1,/);
      expect(await callsOf(server, 'get')).toBe(6);
    }));

  test('are refused for a user who may not read at all', () =>
    run({ user: rights }, async (cache) => {
      await expect(cache.getMany(['a', 'b'])).rejects.toMatchObject({ code: 'cache.unavailable' });
    }));

  test('are made one by one by a server of a cluster that has all keys', () =>
    run({ server: ['--cluster-enabled', 'yes'] }, async (cache, server) => {
      await server.tell('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
      await until('it serves', () =>
        cache.set('a', 1, minute).then(
          () => true,
          () => false,
        ),
      );
      await store(cache);
      expect(await readAll(cache)).toEqual(expected);
    }));
});
