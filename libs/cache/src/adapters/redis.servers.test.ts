import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until } from '@bindery/testing/event-sourcing';
import { newSigningIdentity } from '@bindery/testing/saml';
import { describe, expect, test } from '@jest/globals';
import type { Cache } from '../port.ts';
import { RedisServer, redisIsHere } from './redis/server.testing.ts';
import { openRedisCache } from './redis.ts';

const minute = { ttlMs: 60_000 };
const unavailable = { code: 'cache.unavailable' };
const withServer = redisIsHere ? describe : describe.skip;
/** The rights that the operators' page names. */
const rights =
  '~bindery:* resetchannels -@all +get +set +del +getrange +incrby +pttl +pexpire +hget +hmget +hset +hdel +time +evalsha +eval';

const usable = (cache: Cache): Promise<boolean> =>
  cache.set('k', 1, minute).then(
    () => true,
    () => false,
  );

withServer(
  redisIsHere ? 'servers as platforms run them' : 'SKIPPED: servers as platforms run them (no redis-server here)',
  () => {
    const run = async (work: (server: RedisServer) => Promise<void>): Promise<void> => {
      const server = await RedisServer.start();
      try {
        await work(server);
      } finally {
        await server.dispose();
      }
    };

    test('a failover behind one address: the connection to the demoted server is given up for the new primary', () =>
      run((first) =>
        run(async (second) => {
          let target = first.port;
          const sockets = new Set<Socket>();
          const address = createServer((socket) => {
            const onward = connect(target, '127.0.0.1');
            for (const one of [socket, onward]) sockets.add(one.on('error', () => undefined));
            socket.pipe(onward).pipe(socket);
          });
          await new Promise<void>((resolve) => address.listen(0, '127.0.0.1', resolve));
          const told = address.address();
          const port = told === null || typeof told === 'string' ? 0 : told.port;
          const changes: boolean[] = [];
          const cache = await openRedisCache({
            url: `redis://127.0.0.1:${port}`,
            timeoutMs: 2000,
            onChange: (is) => changes.push(is),
          });
          try {
            await cache.set('k', 1, minute);
            const fence = (await cache.acquire('l', 'me', 60_000))?.fence ?? 0;
            // Demoted, still running, still connected: nothing that the client would see by itself.
            await first.tell('REPLICAOF', '127.0.0.1', String(second.port));
            await expect(cache.set('k', 2, minute)).rejects.toMatchObject(unavailable);
            // While there is no other one, it is away: reported once, not at each probe.
            await until('several probes', () => sockets.size >= 8);
            expect(changes).toEqual([true, false]);
            target = second.port;
            await until('the new primary is used', () => usable(cache));
            expect((await cache.acquire('l', 'you', 60_000))?.fence).toBeGreaterThan(fence);
            expect(changes).toEqual([true, false, true]);
          } finally {
            await cache.close();
            for (const socket of sockets) socket.destroy();
            address.close();
          }
        }),
      ));

    test('a server of a cluster is an outage with a reason, not a mistake of the caller', () =>
      run(async (server) => {
        await server.kill();
        await server.start('--cluster-enabled', 'yes');
        await server.tell('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
        await until('it serves', async () => String(await server.tell('CLUSTER', 'INFO')).includes('cluster_state:ok'));
        await server.tell('CLUSTER', 'DELSLOTSRANGE', '0', '16383');
        await until('it does not', async () =>
          String(await server.tell('CLUSTER', 'INFO')).includes('cluster_state:fail'),
        );
        const reasons: (string | undefined)[] = [];
        const cache = await openRedisCache({
          ...{ url: server.url, openWithinMs: 200 },
          onChange: (_is, reason) => reasons.push(reason),
        });
        await expect(cache.get('k')).rejects.toThrow(/CLUSTERDOWN/);
        expect(reasons).toEqual([]);
        await expect(cache.set('k', 1, minute)).rejects.toMatchObject(unavailable);
        await cache.close();
      }));

    test(
      'TLS by an authority of one own, and a user with no more rights than it needs',
      () =>
        run(async (server) => {
          const folder = await mkdtemp(join(tmpdir(), 'bindery-redis-tls-'));
          try {
            const { privateKey, certificate } = newSigningIdentity('localhost');
            const [key, file] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
            await writeFile(key, privateKey);
            await writeFile(file, certificate);
            await server.kill();
            await server.start(
              ...['--tls-port', String(server.port), '--port', '0', '--tls-auth-clients', 'no'],
              ...['--tls-key-file', key, '--tls-cert-file', file, '--tls-ca-cert-file', file],
              ...['--user', 'bindery', 'on', '>p@ss:w/rd%?', ...rights.split(' ')],
              ...['--user', 'default', 'off'],
            );
            const ask = async (user: string, extra: Readonly<Record<string, string>>): Promise<unknown> => {
              const script = fileURLToPath(new URL('redis/trusting.testing.ts', import.meta.url));
              const url = `rediss://${user}@localhost:${server.port}`;
              const { stdout } = await promisify(execFile)(process.execPath, [script, url], {
                env: { PATH: process.env.PATH, ...extra },
              });
              return JSON.parse(stdout);
            };
            const known = `bindery:${encodeURIComponent('p@ss:w/rd%?')}`;
            const trusting = { NODE_EXTRA_CA_CERTS: file };
            const [trusted, unknown] = await Promise.all([ask(known, trusting), ask(known, {})]);
            expect(trusted).toEqual(['v', 1, true, true, true]);
            expect(unknown).toMatch(/CacheUnavailable: .*self-signed certificate/);
          } finally {
            await rm(folder, { recursive: true });
          }
        }),
      90_000,
    );

    test('a user without the right to a command of a script is refused, and reading goes on', () =>
      run(async (server) => {
        await server.tell('ACL', 'SETUSER', 'some', 'on', '>secret', ...rights.replace('+incrby ', '').split(' '));
        const cache = await openRedisCache({ url: server.url.replace('//', '//some:secret@'), timeoutMs: 2000 });
        await expect(cache.increment('c', minute)).rejects.toMatchObject(unavailable);
        expect(await cache.get('k')).toBeUndefined();
        await cache.close();
      }));
  },
);
