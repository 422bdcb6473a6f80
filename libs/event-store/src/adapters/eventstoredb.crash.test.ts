import { setTimeout as delay } from 'node:timers/promises';
import { EventStoreDbProcess } from '@bindery/testing/eventstoredb-double';
import { expect, test } from '@jest/globals';
import { EventStoreUnavailable } from '../port.ts';
import { collect, eventOf, Listener, QUICK, withFolder } from './eventstoredb/testing.ts';
import { openEventStoreDb } from './eventstoredb.ts';

const ROUNDS = process.env.LONG_TESTS ? 20 : 2;
const STREAMS = ['a-1', 'a-2', 'b-1'];

test(
  `kill -9 of the server under load, ${ROUNDS} times: nothing acknowledged is lost, nothing is there twice, nothing is missed`,
  () =>
    withFolder(async (folder) => {
      const server = await EventStoreDbProcess.start(folder);
      const store = openEventStoreDb({ connectionString: server.connectionString, ...QUICK });
      const acknowledged: string[] = [];
      let over = false;
      /** Appends one event after the other; an unknown outcome is asked again with the same event. */
      const write = async (stream: string): Promise<void> => {
        for (let n = 0; !over; n += 1) {
          const event = eventOf(n);
          for (let done = false; !done; ) {
            try {
              const { revision } = await store.append(stream, [event], n === 0 ? 'no-stream' : n - 1);
              acknowledged.push(`${stream} ${revision} ${event.id}`);
              done = true;
            } catch (error) {
              if (!(error instanceof EventStoreUnavailable)) throw error;
            }
          }
        }
      };
      const listener = new Listener(store);
      const writers = Promise.all(STREAMS.map(write));
      try {
        for (let round = 0; round < ROUNDS; round += 1) {
          const before = acknowledged.length;
          while (acknowledged.length < before + 30) await delay(2);
          await delay(Math.random() * 30);
          await server.kill();
          await server.start();
        }
      } finally {
        over = true;
      }
      await writers;
      const stored = (await collect(store.readAll())).map(({ id, stream, revision }) => `${stream} ${revision} ${id}`);
      await listener.until(({ events }) => events.length >= stored.length);
      await listener.stop();
      expect([...stored].sort()).toEqual([...acknowledged].sort());
      expect(listener.events.map(({ id, stream, revision }) => `${stream} ${revision} ${id}`)).toEqual(stored);
      await store.close();
      await server.kill();
    }),
  ROUNDS * 30_000,
);

test('a frozen server: callers are answered in bounded time, and all goes on when it thaws', () =>
  withFolder(async (folder) => {
    const server = await EventStoreDbProcess.start(folder);
    const limits = { callTimeoutMs: 300, appendTimeoutMs: 700, scanTimeoutMs: 500 };
    const store = openEventStoreDb({ connectionString: server.connectionString, probeMs: 50, ...limits });
    await store.append('a-1', [eventOf(0)], 'no-stream');
    const listener = new Listener(store);
    await listener.until(({ events }) => events.length === 1);
    await server.pause();
    const event = eventOf(1);
    const started = performance.now();
    const outcomes = await Promise.allSettled([
      store.append('a-1', [event], 0),
      collect(store.readStream('a-1')),
      store.head(),
    ]);
    const took = performance.now() - started;
    server.resume();
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(took).toBeLessThan(5000);
    const result = await store.append('a-1', [event], 0); // it may have got through: the same event, the same expectation
    expect(result.revision).toBe(1);
    await listener.until(({ events }) => events.length === 2);
    await listener.stop();
    await server.fault({ kind: 'unavailable', times: 1 });
    expect(await collect(store.readStream('a-1'))).toHaveLength(2);
    await store.close();
    await server.kill();
  }));
