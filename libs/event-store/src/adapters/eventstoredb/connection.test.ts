import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { freePort } from '@bindery/testing/eventstoredb-double';
import { EventStoreDBClient } from '@eventstore/db-client';
import { Metadata } from '@grpc/grpc-js';
import { expect, test } from '@jest/globals';
import { Connection, partsOf } from './connection.ts';
import { filterOf } from './filters.ts';
import type { Incoming } from './incoming.ts';
import { logSubscription } from './requests.ts';
import { eventOf, withDouble } from './testing.ts';

/** What a call of an old connection ends with. */
const unavailable = Object.assign(new Error('gone'), { code: 14, details: 'gone', metadata: new Metadata() });

test('a call that fails while its cluster is not found leaves no rejection that nobody handles, which would end the process', async () => {
  const hosts = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`].join(',');
  const parts = partsOf(EventStoreDBClient.connectionString(`esdb://${hosts}?tls=false&maxDiscoverAttempts=1`));
  const looking = parts.getChannel();
  // The library makes this promise and leaves it alone.
  const left = parts.handleError({ getChannel: () => undefined }, unavailable);
  await expect(looking).rejects.toThrow('Failed to discover');
  expect(await left).toBeUndefined();
});

test('a client without the parts that are used is refused by name', () => {
  expect(() => partsOf({})).toThrow('execute');
});

/** Connections that a server of this process has, by its port. */
const countingConnections = async (work: (count: (port: number) => number) => Promise<void>): Promise<void> => {
  const open = new Map<Socket, number | undefined>();
  const accepted = channel('net.server.socket');
  const note = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    open.set(socket, socket.localPort);
    socket.once('close', () => open.delete(socket));
  };
  accepted.subscribe(note);
  try {
    await work((port) => [...open.values()].filter((of) => of === port).length);
  } finally {
    accepted.unsubscribe(note);
  }
};

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await nextTurn();
};

const { signal } = new AbortController();
const TIME_MS = 30_000;
/** Subscribes and waits until messages are here that nobody takes. */
const backlogOf = async (connection: Connection): Promise<Incoming> => {
  const incoming = await connection.read(logSubscription(0, filterOf(['a-'])), TIME_MS, signal);
  expect(await incoming.wait(TIME_MS, signal)).toBe('more');
  return incoming;
};
const begin = (connection: Connection, count: number): Promise<Incoming[]> =>
  Promise.all(Array.from({ length: count }, () => backlogOf(connection)));

test('subscriptions that are left with messages that nobody took leave their place to others', () =>
  withDouble((place) =>
    countingConnections(async (count) => {
      const padding = 'x'.repeat(2000);
      const events = Array.from({ length: 100 }, (_, n) => eventOf(n, padding));
      await place.open().append('a-1', events, 'no-stream');
      const { port, connectionString } = place.double;
      await until(() => count(port) === 1);
      // Channels of one process with the same settings share a connection: this one is that of the append.
      const connection = new Connection(connectionString);
      for (let left = 0; left < 150; left += 1) {
        const incoming = await backlogOf(connection);
        incoming.close();
        await until(() => place.double.openSubscriptions === 0);
      }
      expect(count(port)).toBe(1);
      await connection.close();
    }),
  ));

test('a further connection is closed once it has been empty for a while, and opened again', () =>
  withDouble((place) =>
    countingConnections(async (count) => {
      await place.open().append('a-1', [eventOf(0)], 'no-stream');
      const { port, connectionString } = place.double;
      const connection = new Connection(connectionString, 50);
      for (let round = 0; round < 2; round += 1) {
        const many = await begin(connection, 140);
        expect(count(port)).toBe(3); // 40, 90 and 10
        for (const incoming of many.slice(0, 130)) incoming.close();
        await until(() => count(port) === 2); // one of the two is empty
        await until(() => place.double.openSubscriptions === 10);
        // What comes now has the first connection, the one that stayed, and another one that differs from both.
        const more = await begin(connection, 140);
        expect(count(port)).toBe(3);
        for (const incoming of [...many.slice(130), ...more]) incoming.close();
        await until(() => count(port) === 1);
        await until(() => place.double.openSubscriptions === 0);
      }
      await connection.close();
    }),
  ));
