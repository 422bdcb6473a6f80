import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventOf, Listener, numbersOf, type Place, withDouble } from './eventstoredb/testing.ts';

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await nextTurn();
};
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
const caughtUp = ({ items }: Listener): boolean => items.some(({ kind }) => kind === 'caught-up');

/** Appends events `from` to `to` to one stream. */
const append = async (place: Place, from: number, to: number): Promise<void> => {
  const store = place.open({ callTimeoutMs: 4000, appendTimeoutMs: 8000 });
  for (let n = from; n < to; n += 200) {
    const events = upTo(Math.min(200, to - n)).map((index) => eventOf(n + index));
    await store.append('a-1', events, n === 0 ? 'no-stream' : n - 1);
  }
};

test('subscriptions of a client that are at the end are one on the server', () =>
  withDouble(async (place) => {
    await append(place, 0, 10);
    const store = place.open();
    const listeners = upTo(5).map(() => new Listener(store, { prefixes: ['a-'] }));
    for (const listener of listeners) await listener.until(() => caughtUp(listener));
    await until(() => place.double.openSubscriptions === 1);
    const before = place.double.counters.messages;
    await append(place, 10, 310);
    for (const listener of listeners) await listener.until(({ events }) => events.length === 310);
    expect(place.double.counters.messages - before).toBeLessThan(330);
    const other = new Listener(store, { prefixes: ['b-'] }); // another part of the log is not shared
    await other.until(() => caughtUp(other));
    expect(place.double.openSubscriptions).toBe(2);
    for (const listener of listeners) {
      expect(numbersOf(listener.events)).toEqual(upTo(310));
      const last = listener.items.findLast(({ kind }) => kind === 'caught-up');
      expect(last === undefined || last.position <= (await store.head(['a-']))).toBe(true);
    }
    for (const listener of [...listeners, other]) await listener.stop();
    await until(() => place.double.openSubscriptions === 0);
  }));

test('one that is slow holds up nobody, and misses nothing', () =>
  withDouble(async (place) => {
    await append(place, 0, 1);
    const store = place.open();
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const slow = new Listener(store, {}, async (item) => {
      if (item.kind === 'events' && numbersOf(item.events).includes(1)) await gate;
    });
    const quick = new Listener(store);
    for (const listener of [slow, quick]) await listener.until(() => caughtUp(listener));
    await append(place, 1, 5001);
    await quick.until(({ events }) => events.length === 5001);
    expect(slow.events.length).toBeLessThan(5001);
    open();
    await slow.until(({ events }) => events.length === 5001);
    await append(place, 5001, 5002);
    for (const listener of [slow, quick]) {
      await listener.until(({ events }) => events.length === 5002);
      expect(numbersOf(listener.events)).toEqual(upTo(5002));
      await listener.stop();
    }
  }));

test('they come and go, and the server is cut off, restarted and ends them: every event once, in order', () =>
  withDouble(async (place) => {
    await append(place, 0, 1);
    const store = place.open();
    let listeners = upTo(3).map(() => new Listener(store));
    const faults = [() => place.double.endSubscriptions(), () => place.double.disconnect(), () => place.restart()];
    for (let round = 0; round < 9; round += 1) {
      for (const listener of listeners) await listener.until(() => caughtUp(listener));
      const [oldest, ...others] = listeners;
      await oldest?.stop();
      listeners = [...others, new Listener(store)];
      await append(place, round * 3 + 1, round * 3 + 4);
      await faults[round % 3]?.();
      for (const listener of listeners) await listener.until(({ events }) => events.length >= round * 3 + 4);
      for (const listener of listeners) expect(numbersOf(listener.events)).toEqual(upTo(round * 3 + 4));
    }
    for (const listener of listeners) await listener.stop();
    await until(() => place.double.openSubscriptions === 0);
  }));

test('closing the client ends them all', () =>
  withDouble(async (place) => {
    const store = place.open();
    const listeners = upTo(3).map(() => new Listener(store));
    for (const listener of listeners) await listener.until(() => caughtUp(listener));
    await store.close();
    for (const listener of listeners) await expect(listener.ended).rejects.toThrow('closed');
    await until(() => place.double.openSubscriptions === 0);
  }));
