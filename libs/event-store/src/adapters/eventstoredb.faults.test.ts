import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { FaultKind } from '@bindery/testing/eventstoredb-double';
import { describe, expect, test } from '@jest/globals';
import { type EventData, EventStoreUnavailable, type ExpectedRevision, type RecordedEvent } from '../port.ts';
import { collect, eventOf, Listener, numbersOf, type Place, QUICK, withDouble } from './eventstoredb/testing.ts';

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await nextTurn();
};

const fill = async (place: Place, stream: string, count: number, padding = ''): Promise<void> => {
  const store = place.open();
  for (let from = 0; from < count; from += 500) {
    const events = Array.from({ length: Math.min(500, count - from) }, (_, index) => eventOf(from + index, padding));
    await store.append(stream, events, from === 0 ? 'no-stream' : from - 1);
  }
};

describe('subscriptions (PITFALLS 1 to 6, 15)', () => {
  test('go on after polite ends, cut connections and restarts: every event once, in order', () =>
    withDouble(async (place) => {
      const drops: string[] = [];
      const store = place.open({ onSubscriptionDropped: (reason) => drops.push(reason) });
      const listener = new Listener(store, { prefixes: ['a-'] });
      const faults = [() => place.double.endSubscriptions(), () => place.double.disconnect(), () => place.restart()];
      for (const [round, fault] of [...faults, ...faults].entries()) {
        for (let n = 0; n < 5; n += 1) {
          const at = round * 5 + n;
          await store.append('a-1', [eventOf(at)], at === 0 ? 'no-stream' : at - 1);
        }
        await until(() => place.double.openSubscriptions > 0);
        await fault();
      }
      await listener.until(({ events }) => events.length >= 30);
      await listener.stop();
      expect(numbersOf(listener.events)).toEqual(Array.from({ length: 30 }, (_, n) => n));
      await until(() => drops.length >= 6);
    }));

  test('a server that dies in the very turn of the subscription takes nobody with it', () =>
    withDouble(async (place) => {
      await fill(place, 'a-1', 3);
      const listener = new Listener(place.open());
      await place.restart();
      await listener.until(({ events }) => events.length === 3);
      await listener.stop();
    }));

  test('leave nothing open on the server, whether they stop, break or throw', () =>
    withDouble(async (place) => {
      await fill(place, 'a-1', 3);
      const store = place.open();
      const { signal } = new AbortController();
      for (let round = 0; round < 5; round += 1) {
        for await (const _item of store.subscribe({ signal })) break;
        const listener = new Listener(store);
        await listener.until(({ events }) => events.length === 3);
        await listener.stop();
      }
      await until(() => place.double.openSubscriptions === 0);
      expect(place.double.counters.subscriptions).toBe(10);
    }));

  test('handle one page at a time, and say "caught up" after what was handled', () =>
    withDouble(async (place) => {
      await fill(place, 'a-1', 40);
      let running = 0;
      let most = 0;
      const store = place.open();
      const listener = new Listener(store, {}, async () => {
        running += 1;
        most = Math.max(most, running);
        await delay(Math.random() * 5);
        running -= 1;
      });
      await listener.until(({ items }) => items.some(({ kind }) => kind === 'caught-up'));
      expect(most).toBe(1);
      expect(numbersOf(listener.events)).toEqual(Array.from({ length: 40 }, (_, n) => n));
      const mark = listener.items.find(({ kind }) => kind === 'caught-up');
      expect(mark?.position).toBe(await store.head());
      await listener.stop();
    }));

  test('resumed behind foreign events they do not read those again', () =>
    withDouble(async (place) => {
      await fill(place, 'foreign-1', 6000);
      const store = place.open();
      const first = new Listener(store, { prefixes: ['mine-'] });
      await first.until(({ items }) => items.some(({ kind }) => kind === 'caught-up'));
      await first.stop();
      expect(first.items.every((item) => item.kind === 'caught-up' || item.events.length === 0)).toBe(true);
      const reached = first.items.at(-1)?.position ?? 0;
      expect(reached).toBe(await store.head());
      const before = place.double.counters.messages;
      const second = new Listener(store, { after: reached, prefixes: ['mine-'] });
      await second.until(({ items }) => items.length > 0);
      await second.stop();
      expect(place.double.counters.messages - before).toBeLessThan(10);
    }));

  test('a reader that stands still is sent no more than a page and what the network holds', () =>
    withDouble(async (place) => {
      await fill(place, 'a-1', 4000, 'x'.repeat(1000));
      let open: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        open = resolve;
      });
      const before = place.double.counters.messages;
      const listener = new Listener(place.open(), {}, () => gate);
      await until(() => place.double.counters.messages > before + 300);
      await delay(300); // long enough for all to be sent if nothing held it back
      expect(place.double.counters.messages - before).toBeLessThan(1500);
      open();
      await listener.until(({ events }) => events.length === 4000);
      await listener.stop();
    }));
});

describe('appends (PITFALLS 7, 9, 11)', () => {
  test('an answer that is lost after the commit: exactly one event, and the caller hears of success', () =>
    withDouble(async (place) => {
      const store = place.open({ callTimeoutMs: 300 });
      const kinds: readonly FaultKind[] = ['lost-answer', 'silent-after-commit'];
      for (const [index, kind] of kinds.entries()) {
        place.double.faults.add({ kind, on: ['append'], times: 1 });
        const result = await store.append('a-1', [eventOf(index)], index === 0 ? 'no-stream' : index - 1);
        expect(result).toMatchObject({ revision: index });
      }
      expect(numbersOf(await collect(store.readStream('a-1')))).toEqual([0, 1]);
      expect(place.double.counters.batchAppends).toBe(0);
    }));

  test('lost, then overtaken: the own events are found behind the conflict', () =>
    withDouble(async (place) => {
      const [store, other] = [place.open(), place.open()];
      place.double.faults.add({ kind: 'lost-answer', on: ['append'], times: 1 });
      const own = [eventOf(0), eventOf(1)];
      const first = store.append('a-1', own, 'no-stream');
      await until(() => place.double.log.streams.next('a-1') === 2);
      await Promise.all([first, other.append('a-1', [eventOf(2)], 1)]);
      expect(await first).toMatchObject({ revision: 1 });
      expect(await store.append('a-1', own, 'no-stream')).toMatchObject({ revision: 1 });
    }));

  const passing: readonly FaultKind[] = [
    'unavailable', 'not-ready', 'too-busy', 'timeout', 'not-leader', 'unknown', 'cancelled', 'lost-answer', 'slow',
    'false-success', 'no-position',
  ]; // biome-ignore format: a list of names
  test.each(passing)('%s passes without the caller noticing', (kind) =>
    withDouble(async (place) => {
      const store = place.open();
      place.double.faults.add({ kind, times: 2, delayMs: 20 });
      expect(await store.append('a-1', [eventOf(1)], 'no-stream')).toMatchObject({ revision: 0 });
      place.double.faults.add({ kind, times: 2, delayMs: 20 });
      expect(numbersOf(await collect(store.readStream('a-1')))).toEqual([1]);
    }),
  );

  test('what an append wrote is read only where its answer leaves a doubt', () =>
    withDouble(async (place) => {
      const store = place.open();
      const appended = async (event: EventData, expected: ExpectedRevision) => {
        const { reads } = place.double.counters;
        const { position } = await store.append('a-1', [event], expected);
        const [last] = await collect(store.readStream('a-1', { direction: 'backwards', limit: 1 }));
        return { reads: place.double.counters.reads - reads - 1, right: position === last?.position };
      };
      const first = eventOf(0);
      expect(await appended(first, 'no-stream')).toEqual({ reads: 0, right: true });
      expect(await appended(first, 'no-stream')).toEqual({ reads: 0, right: true });
      for (const [index, kind] of (['lost-answer', 'false-success', 'no-position'] as const).entries()) {
        place.double.faults.add({ kind, on: ['append'], times: 1 });
        const { reads, right } = await appended(eventOf(index + 1), index);
        expect([kind, reads > 0, right]).toEqual([kind, true, true]);
      }
      expect(numbersOf(await collect(store.readStream('a-1')))).toEqual([0, 1, 2, 3]);
    }));

  test('what trying again cannot change is said at once, in the words of the port', () =>
    withDouble(async (place) => {
      const store = place.open();
      place.double.faults.add({ kind: 'denied', times: 1 });
      const denied = store.append('a-1', [eventOf(1)], 'no-stream');
      await expect(denied).rejects.toBeInstanceOf(EventStoreUnavailable);
      await expect(denied).rejects.toThrow('Access Denied');
      place.double.faults.add({ kind: 'too-large', times: 1 });
      await expect(store.append('a-1', [eventOf(1)], 'no-stream')).rejects.toBeInstanceOf(TypeError);
      expect(place.double.counters.appends).toBe(2);
    }));

  test('one client that is refused does not disturb another one', () =>
    withDouble(async (place) => {
      const [store, other] = [place.open(), place.open()];
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) =>
          index % 2 === 0
            ? store.append(`a-${index}`, [eventOf(1)], 'no-stream')
            : other.append(`a-${index}`, [eventOf(1)], 9),
        ),
      );
      expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(outcomes.map((_, index) => index % 2 === 0));
    }));
});

describe('silence and absence (PITFALLS 12)', () => {
  const bounded = async (work: Promise<unknown>, ms: number): Promise<void> => {
    const started = performance.now();
    await expect(work).rejects.toBeInstanceOf(EventStoreUnavailable);
    expect(performance.now() - started).toBeLessThan(ms);
  };

  test('a server that accepts and never answers: every call ends in bounded time', () =>
    withDouble(async (place) => {
      const store = place.open({ callTimeoutMs: 200, appendTimeoutMs: 500, scanTimeoutMs: 300 });
      place.double.faults.add({ kind: 'silent' });
      await Promise.all([
        bounded(store.append('a-1', [eventOf(1)], 'no-stream'), 3000),
        bounded(collect(store.readStream('a-1')), 3000),
        bounded(collect(store.readAll()), 3000),
        bounded(store.head(), 3000),
        bounded(store.count(), 3000),
      ]);
      place.double.faults.clear();
      await store.append('a-1', [eventOf(1)], 'no-stream');
    }));

  test('no server at all: refused in bounded time, and it goes on when there is one', () =>
    withDouble(async (place) => {
      const store = place.open({ appendTimeoutMs: 500 });
      await store.append('a-1', [eventOf(0)], 'no-stream');
      const { port } = place.double;
      await place.double.stop();
      await Promise.all([
        bounded(store.append('a-1', [eventOf(1)], 0), 4000),
        bounded(collect(store.readStream('a-1')), 4000),
      ]);
      await place.restart();
      expect(place.double.port).toBe(port);
      expect(await store.append('a-1', [eventOf(1)], 0)).toMatchObject({ revision: 1 });
    }));

  test('too much waiting is refused, not kept', () =>
    withDouble(async (place) => {
      const store = place.open({ ...QUICK, maxQueued: 5 });
      const appends = Array.from({ length: 8 }, (_, n) => store.append(`a-${n}`, [eventOf(n)], 'no-stream'));
      const refused = (await Promise.allSettled(appends)).filter(({ status }) => status === 'rejected');
      expect(refused).toHaveLength(3);
    }));
});

test('revisions go on after a soft delete, and what is left is read (PITFALLS 13)', () =>
  withDouble(async (place) => {
    const store = place.open();
    await store.append('a-1', [eventOf(0), eventOf(1)], 'no-stream');
    await place.double.log.delete('a-1', 'soft');
    expect(await collect(store.readStream('a-1'))).toEqual([]);
    expect(await store.append('a-1', [eventOf(2)], 'no-stream')).toMatchObject({ revision: 2 });
    const left: RecordedEvent[] = await collect(store.readStream('a-1'));
    expect(left.map(({ revision }) => revision)).toEqual([2]);
    await place.restart();
    expect(numbersOf(await collect(store.readStream('a-1')))).toEqual([2]);
  }));

test('events of the server itself are in its log and not in ours', () =>
  withDouble(async (place) => {
    const store = place.open();
    for (let n = 0; n < 25; n += 1) await store.append(`a-${n}`, [eventOf(n)], 'no-stream');
    expect(place.double.log.entries.filter(({ stream }) => stream.startsWith('$'))).toHaveLength(2);
    expect(numbersOf(await collect(store.readAll()))).toEqual(Array.from({ length: 25 }, (_, n) => n));
    expect(await store.count()).toBe(25);
    await expect(store.append('$a', [eventOf(1)], 'no-stream')).rejects.toBeInstanceOf(TypeError);
  }));
