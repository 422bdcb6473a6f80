import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Backend, startBackend, startProxy, type TcpProxy } from '@bindery/backends';
import { until } from '@bindery/testing/event-sourcing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Collection, ReadStore } from '../port.ts';
import { openMongoReadStore } from './mongodb.ts';

const url = process.env.MONGODB_URL ?? '';
const unavailable = { code: 'read_store.unavailable' };
const spec = { name: 'testing.faults', version: 1, indexes: [{ name: 'n', fields: ['n'] }] };
interface Counted {
  readonly n: number;
}

/** Milliseconds until it is settled. */
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await expect(work()).rejects.toMatchObject(unavailable);
  return performance.now() - start;
};

/** Each method once, all at the same time, refused within the budget. */
const expectRefusals = async (collection: Collection<Counted>, budgetMs: number): Promise<void> => {
  const took = await Promise.all([
    timed(() => collection.get('a')),
    timed(() => collection.getMany(['a', 'b'])),
    timed(() => collection.query({ where: { n: 1 }, limit: 5 })),
    timed(() => collection.count()),
    timed(() => collection.put('a', 99, { n: 1 })),
    timed(() => collection.compareAndPut('b', -1, { n: 1 })),
    timed(() => collection.purge({ n: -1 }, 5)),
  ]);
  expect(Math.max(...took)).toBeLessThan(budgetMs);
};

describe('without a server', () => {
  test('a port where nobody listens is reported within the budget', async () => {
    const refused = 'mongodb://127.0.0.1:1/';
    expect(await timed(() => openMongoReadStore({ url: refused, timeoutMs: 600 }))).toBeLessThan(1200);
  });

  test('a server that takes connections and is silent is reported within the budget', async () => {
    const server: Server = createServer(() => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    expect(await timed(() => openMongoReadStore({ url: `mongodb://127.0.0.1:${port}/`, timeoutMs: 600 }))).toBeLessThan(
      1200,
    );
    server.close();
  });

  test('an address that is none is a mistake of the configuration, whose message keeps the password', async () => {
    const opening = openMongoReadStore({ url: 'mongodb://me:hunter2@host:port/?nonsense=1' });
    await expect(opening).rejects.toThrow(TypeError);
    await expect(opening).rejects.not.toThrow(/hunter2/);
  });
});

const suite = (): void => {
  const budgetMs = 5000;
  let folder: string;
  let server: Backend;
  let proxy: TcpProxy;
  let database: string;
  let store: ReadStore;
  let collection: Collection<Counted>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bindery-mongo-faults-'));
    server = await startBackend('mongodb', { folder, mongo: 'java' });
    proxy = await startProxy({ targetPort: server.port });
  }, 90_000);

  beforeEach(async () => {
    database = `bindery_test_${randomUUID().replaceAll('-', '')}`;
    store = await openMongoReadStore({ url: `mongodb://127.0.0.1:${proxy.port}/`, database });
    collection = await store.collection<Counted>(spec);
    await collection.put('a', 1, { n: 1 });
  });

  afterEach(async () => {
    proxy.heal();
    await store.close();
  });

  afterAll(async () => {
    await proxy.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const heals = (): Promise<void> =>
    until('the store answers again', async () => {
      try {
        return (await collection.get('a')) !== undefined;
      } catch {
        return false;
      }
    });

  test('half-open connections: every method answers in time; afterwards all goes on', async () => {
    proxy.setFault({ kind: 'silent' });
    await expectRefusals(collection, budgetMs);
    proxy.heal();
    await heals();
    expect(await collection.put('c', 1, { n: 3 })).toBe(true);
  }, 30_000);

  test('reset connections: reads are tried again, everything is refused in time while it lasts', async () => {
    proxy.cutOnce();
    await heals();
    proxy.setFault({ kind: 'cut' });
    await expectRefusals(collection, budgetMs);
    proxy.heal();
    await heals();
  }, 30_000);

  test('half an answer is not taken for one', async () => {
    proxy.setFault({ kind: 'half' });
    const outcome = await collection.get('a').then(
      (stored) => stored?.document,
      (error: { code?: string }) => error.code,
    );
    expect([{ n: 1 }, 'read_store.unavailable']).toContainEqual(outcome);
    await heals();
  }, 30_000);

  test('a frozen server answers nobody in time, then goes on without hands', async () => {
    await server.pause();
    await expectRefusals(collection, budgetMs);
    server.resume();
    await heals();
  }, 30_000);

  test('killed under load: every acknowledged write is there after the restart, and the store heals', async () => {
    const acknowledged = new Map<string, number>();
    let stop = false;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 1; !stop; n++) {
        const id = `w${writer}-${n % 10}`;
        try {
          if (await collection.put(id, n, { n })) acknowledged.set(id, n);
        } catch (error) {
          expect(error).toMatchObject(unavailable);
        }
      }
    });
    try {
      await until('some writes are acknowledged', () => acknowledged.size > 40);
      await server.kill();
      await expectRefusals(collection, budgetMs);
      await server.start();
      const before = new Map(acknowledged);
      await until('writes go on', () => [...acknowledged].some(([id, n]) => n > (before.get(id) ?? 0)));
    } finally {
      stop = true;
    }
    await Promise.all(writers);
    for (const [id, n] of acknowledged) expect((await collection.get(id))?.revision).toBeGreaterThanOrEqual(n);
  }, 90_000);

  test('closing while nobody answers ends in time', async () => {
    const doomed = await openMongoReadStore({ url: `mongodb://127.0.0.1:${proxy.port}/`, database });
    const other = await doomed.collection<Counted>(spec);
    proxy.setFault({ kind: 'silent' });
    const start = performance.now();
    const reading = expect(other.get('a')).rejects.toMatchObject(unavailable);
    await doomed.close();
    await reading;
    expect(performance.now() - start).toBeLessThan(budgetMs + 1000);
    proxy.heal();
  }, 30_000);
};

const withServer = url === '' ? describe.skip : describe;
withServer(url === '' ? 'SKIPPED: MongoDB under faults (MONGODB_URL is not set)' : 'MongoDB under faults', suite);
