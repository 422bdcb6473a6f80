import { MOST_EVENT_BYTES } from '@bindery/testing/eventstoredb-double';
import { describe, expect, test } from '@jest/globals';
import { EventStoreUnavailable } from '../port.ts';
import { collect, eventOf, Listener, numbersOf, type Place, withDouble } from './eventstoredb/testing.ts';

/** Writes to the log of the server what no client of ours writes. */
const foreign = async (place: Place, stream: string, type: string, data: string): Promise<void> => {
  const event = { id: crypto.randomUUID(), type, contentType: 'application/octet-stream', metadata: new Uint8Array() };
  await place.double.log.append(stream, [{ ...event, data: new TextEncoder().encode(data) }], 'any');
};

const caughtUp = ({ items }: Listener): boolean => items.some(({ kind }) => kind === 'caught-up');

describe('what stands in our streams and is none of our events', () => {
  test('ends of streams and links are neither read nor counted, and do not hide what is before them', () =>
    withDouble(async (place) => {
      const store = place.open();
      await store.append('a-1', [eventOf(0), eventOf(1)], 'no-stream');
      await store.append('a-2', [eventOf(2)], 'no-stream');
      const { position } = await store.append('a-1', [eventOf(3)], 1);
      await place.double.log.delete('a-2', 'tombstone');
      for (let n = 0; n < 40; n += 1) await foreign(place, 'a-1', '$>', `${n}@a-2`);
      expect(numbersOf(await collect(store.readAll()))).toEqual([0, 1, 2, 3]);
      expect(numbersOf(await collect(store.readAll({ prefixes: ['a-'], limit: 4 })))).toEqual([0, 1, 2, 3]);
      expect(numbersOf(await collect(store.readStream('a-1')))).toEqual([0, 1, 3]);
      expect(numbersOf(await collect(store.readStream('a-1', { direction: 'backwards', limit: 2 })))).toEqual([3, 1]);
      expect(await store.head()).toBe(position);
      expect(await store.head(['a-'])).toBe(position);
      expect(await store.count()).toBe(4);
      const listener = new Listener(store, { prefixes: ['a-'] });
      await listener.until(caughtUp);
      await store.append('a-3', [eventOf(4)], 'no-stream');
      await listener.until(({ events }) => events.length === 5);
      expect(numbersOf(listener.events)).toEqual([0, 1, 2, 3, 4]);
      await listener.stop();
    }));

  test('what earlier releases have marked is read without the mark', () =>
    withDouble(async (place) => {
      const store = place.open();
      const { id, type, data, metadata } = eventOf(0);
      const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
      const marked = bytesOf({ $append: crypto.randomUUID(), ...metadata });
      const written = { id, type, contentType: 'application/json', metadata: marked, data: bytesOf(data) };
      await place.double.log.append('a-1', [written], 'any');
      const listener = new Listener(store);
      await listener.until(({ events }) => events.length === 1);
      await listener.stop();
      for (const event of [...(await collect(store.readStream('a-1'))), ...listener.events]) {
        expect(event.metadata).toEqual(metadata);
        expect(event.data).toEqual(data);
      }
    }));

  test('a page is as long as was asked for, whatever stands between', () =>
    withDouble(async (place) => {
      const store = place.open();
      for (let n = 0; n < 6; n += 1) {
        await store.append(`a-${n}`, [eventOf(n)], 'no-stream');
        for (let link = 0; link < 5; link += 1) await foreign(place, `a-${n}`, '$>', '0@b-1');
      }
      expect(numbersOf(await collect(store.readAll({ prefixes: ['a-'], limit: 4 })))).toEqual([0, 1, 2, 3]);
      const [, second] = await collect(store.readAll({ limit: 2 }));
      const rest = await collect(store.readAll({ after: second?.position ?? 0, limit: 3 }));
      expect(numbersOf(rest)).toEqual([2, 3, 4]);
    }));

  test('types that are the server’s own are not written', () =>
    withDouble(async (place) => {
      const event = { ...eventOf(0), type: '$metadata' };
      await expect(place.open().append('a-1', [event], 'no-stream')).rejects.toBeInstanceOf(TypeError);
    }));
});

describe('sizes', () => {
  test('an append that is larger than the server takes is said to be so at once, while it is still being sent', () =>
    withDouble(async (place) => {
      const store = place.open();
      const large = Array.from({ length: 12 }, (_, n) => eventOf(n, 'x'.repeat(300_000)));
      const refused = store.append('a-1', large, 'no-stream');
      await expect(refused).rejects.toBeInstanceOf(TypeError);
      await expect(refused).rejects.toThrow(/MaxAppendSize|Maximum Append Size of 1048576/u);
      expect(place.double.counters.appends).toBe(1);
      expect(await store.append('a-1', large.slice(0, 3), 'no-stream')).toMatchObject({ revision: 2 });
    }));

  test('characters that are several bytes count as those', () =>
    withDouble(async (place) => {
      const store = place.open();
      await store.append('a-1', [eventOf(0, 'x'.repeat(600_000))], 'no-stream');
      await expect(store.append('a-1', [eventOf(1, 'ü'.repeat(600_000))], 0)).rejects.toBeInstanceOf(TypeError);
    }));

  test.each(['24.10', '25.1'] as const)('version %s: an event beyond what a record holds is not sent', (version) =>
    withDouble(
      async (place) => {
        const store = place.open({ callTimeoutMs: 8000, appendTimeoutMs: 16_000 });
        const event = eventOf(0, 'x'.repeat(MOST_EVENT_BYTES - 200));
        await expect(store.append('a-1', [event], 'no-stream')).rejects.toBeInstanceOf(TypeError);
        expect(place.double.counters.appends).toBe(0);
      },
      { version, maxAppendBytes: 64 * 1024 * 1024 },
    ),
  );
});

test('a repeat that comes while the first is being stored is dropped by the server, and succeeds later', () =>
  withDouble(async (place) => {
    const [store, other] = [place.open(), place.open()];
    await Promise.all([store.head(), other.head()]);
    const events = [eventOf(0), eventOf(1)];
    const results = await Promise.all([
      store.append('a-1', events, 'no-stream'),
      other.append('a-1', events, 'no-stream'),
    ]);
    expect(results[0]).toEqual(results[1]);
    expect(numbersOf(await collect(store.readStream('a-1')))).toEqual([0, 1]);
  }));

describe('the end of the log', () => {
  test('events of the server itself are passed over once, not at every look', () =>
    withDouble(async (place) => {
      const store = place.open();
      const { position } = await store.append('a-1', [eventOf(0)], 'no-stream');
      for (let n = 0; n < 300; n += 1) await foreign(place, '$stats-127.0.0.1:2113', '$statsCollected', '{}');
      expect(await store.head()).toBe(position);
      const { reads } = place.double.counters;
      for (let n = 0; n < 5; n += 1) expect(await store.head()).toBe(position);
      expect(place.double.counters.reads - reads).toBe(5);
      await foreign(place, '$stats-127.0.0.1:2113', '$statsCollected', '{}');
      const later = await store.append('a-1', [eventOf(1)], 0);
      await foreign(place, '$stats-127.0.0.1:2113', '$statsCollected', '{}');
      expect(await store.head()).toBe(later.position);
      expect(await store.head(['b-'])).toBe(0);
    }));

  test('a look through a very long log outlives those who wait for it', () =>
    withDouble(async (place) => {
      const store = place.open({ scanTimeoutMs: 200 });
      const { position } = await store.append('a-1', [eventOf(0)], 'no-stream');
      await store.append('b-1', [eventOf(1)], 'no-stream');
      expect(await store.head()).toBeGreaterThan(position);
      place.double.faults.add({ kind: 'slow', on: ['read'], times: 2, delayMs: 300 });
      let answer: number | undefined;
      let refused = 0;
      while (answer === undefined) {
        try {
          answer = await store.head(['a-']);
        } catch (error) {
          expect(error).toBeInstanceOf(EventStoreUnavailable);
          refused += 1;
        }
      }
      expect(answer).toBe(position);
      expect(refused).toBeGreaterThan(0);
    }));
});
