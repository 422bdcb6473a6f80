import { setImmediate as nextTurn } from 'node:timers/promises';
import { EventStoreDbDouble, freePort } from '@bindery/testing/eventstoredb-double';
import { expect, test } from '@jest/globals';
import { EventStoreUnavailable } from '../port.ts';
import { collect, eventOf, Listener, numbersOf, type Place, withDouble, withFolder } from './eventstoredb/testing.ts';

/** A leader, and a follower that has nothing and sends everybody to it. */
const withCluster = (work: (place: Place, follower: EventStoreDbDouble) => Promise<void>): Promise<void> =>
  withDouble((place) =>
    withFolder(async (directory) => {
      const follower = await EventStoreDbDouble.start({ directory });
      follower.role.follow({ host: '127.0.0.1', port: place.double.port });
      try {
        await work(place, follower);
      } finally {
        await follower.stop();
      }
    }),
  );

const urls = (place: Place, follower: EventStoreDbDouble): readonly string[] => {
  const [leader, other] = [`127.0.0.1:${place.double.port}`, `127.0.0.1:${follower.port}`];
  return [
    `esdb://${other}?tls=false`,
    `esdb://${other},${leader}?tls=false`,
    `esdb+discover://${other}?tls=false`,
    `esdb+discover://${other},${leader}?tls=false&nodePreference=follower`,
    `kurrentdb+discover://${other},${leader}?tls=false`,
  ];
};

test('whichever member is named, the leader is found for appends, reads and subscriptions', () =>
  withCluster(async (place, follower) => {
    for (const [index, connectionString] of urls(place, follower).entries()) {
      const stream = `a-${index}`;
      const store = place.open({ connectionString });
      const listener = new Listener(store, { prefixes: [stream] });
      await store.append(stream, [eventOf(index)], 'no-stream');
      expect(numbersOf(await collect(store.readStream(stream)))).toEqual([index]);
      await listener.until(({ events }) => events.length === 1);
      await listener.stop();
    }
    expect(follower.log.entries).toHaveLength(0);
  }));

test('a member that is gone is passed over', () =>
  withCluster(async (place) => {
    const gone = await freePort();
    const connectionString = `esdb+discover://127.0.0.1:${gone},127.0.0.1:${place.double.port}?tls=false`;
    const store = place.open({ connectionString });
    expect(await store.append('a-1', [eventOf(0)], 'no-stream')).toMatchObject({ revision: 0 });
  }));

test('while a leader is elected nothing is answered, and all goes on afterwards', () =>
  withDouble(async (place) => {
    const store = place.open();
    await store.append('a-1', [eventOf(0)], 'no-stream');
    const listener = new Listener(store);
    await listener.until(({ events }) => events.length === 1);
    place.double.role.follow(null);
    place.double.endSubscriptions();
    const during = store.append('a-1', [eventOf(1)], 0);
    const read = collect(store.readStream('a-1'));
    await expect(read).rejects.toBeInstanceOf(EventStoreUnavailable);
    place.double.role.follow(undefined);
    expect(await during).toMatchObject({ revision: 1 });
    await listener.until(({ events }) => events.length === 2);
    await listener.stop();
  }));

test('a leader that steps down sends its callers on', () =>
  withCluster(async (place, follower) => {
    const store = place.open({ connectionString: urls(place, follower)[1] ?? '' });
    await store.append('a-1', [eventOf(0)], 'no-stream');
    follower.role.follow(undefined);
    place.double.role.follow({ host: '127.0.0.1', port: follower.port });
    expect(await store.append('a-1', [eventOf(1)], 'no-stream')).toMatchObject({ revision: 0 }); // it has no data of the other
    expect(follower.log.entries.length).toBeGreaterThan(0);
  }));

test('a cluster that is not found for a while is found again, and calls of the old connection end well', () =>
  withCluster(async (place, follower) => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    try {
      const hosts = `127.0.0.1:${place.double.port},127.0.0.1:${follower.port}`;
      const connectionString = `esdb://${hosts}?tls=false&maxDiscoverAttempts=4&discoveryInterval=200`;
      const store = place.open({ connectionString, callTimeoutMs: 20_000, appendTimeoutMs: 40_000 });
      const asked = (): number => place.double.counters.gossips + follower.counters.gossips;
      await store.append('a-1', [eventOf(0)], 'no-stream');
      // One call is under way on the old connection, another one fails so that the leader is looked for, and is not found.
      place.double.faults.add({ kind: 'silent', on: ['append'], times: 1 });
      const { appends } = place.double.counters;
      const slow = store.append('b-1', [eventOf(1)], 'no-stream');
      while (place.double.faults.count > 0) await nextTurn();
      for (const double of [place.double, follower]) double.faults.add({ kind: 'unavailable', on: ['gossip'] });
      place.double.faults.add({ kind: 'unavailable', on: ['append'], times: 1 });
      const before = asked();
      const refused = store.append('c-1', [eventOf(2)], 'no-stream');
      while (asked() === before) await nextTurn(); // it is being looked for
      expect(place.double.counters.appends).toBe(appends + 2);
      const { gossips } = follower.counters;
      await place.double.stop();
      // Each of the four attempts asks the follower once: so often means that one search has failed, and another one runs.
      while (follower.counters.gossips < gossips + 6) await nextTurn();
      follower.faults.clear();
      await place.restart();
      expect(await Promise.all([slow, refused])).toMatchObject([{ revision: 0 }, { revision: 0 }]);
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
  }));

test('more subscriptions than a connection carries hold up neither appends nor reads', () =>
  withDouble(async (place) => {
    const store = place.open({ callTimeoutMs: 4000, appendTimeoutMs: 8000 });
    await store.append('a-0', [eventOf(0)], 'no-stream');
    const listeners = Array.from({ length: 130 }, (_, n) => new Listener(store, { prefixes: [`a-${n}`] }));
    for (const listener of listeners)
      await listener.until(({ items }) => items.some(({ kind }) => kind === 'caught-up'));
    await store.append('a-129', [eventOf(129)], 'no-stream');
    await listeners.at(-1)?.until(({ events }) => events.length === 1);
    expect(numbersOf(await collect(store.readStream('a-129')))).toEqual([129]);
    for (const listener of listeners) await listener.stop();
  }));
