import { randomUUID } from 'node:crypto';
import { WrongExpectedRevision } from '@bindery/event-store';
import { expect, test } from '@jest/globals';
import { collect, type EventStoreHarness, eventOf, idsOf, numbered, withStore } from './harness.ts';

/** Expected revisions, atomicity, repeats. */
export const appending = (harness: EventStoreHarness): void => {
  test('revisions count from 0 without gaps and positions grow', () =>
    withStore(harness, async ({ store, stream, start }) => {
      const first = await store.append(stream('a-1'), numbered(1), 'no-stream');
      const second = await store.append(stream('a-1'), numbered(3, 1), 0);
      const third = await store.append(stream('a-1'), numbered(1, 4), 3);
      expect([first, second, third].map(({ revision }) => revision)).toEqual([0, 3, 4]);
      const events = await collect(store.readStream(stream('a-1')));
      expect(events.map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4]);
      expect(events.map(({ data }) => data)).toEqual([0, 1, 2, 3, 4].map((n) => ({ n })));
      const positions = events.map(({ position }) => position);
      expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
      expect(positions[0]).toBeGreaterThan(start);
      expect([first.position, second.position, third.position]).toEqual([positions[0], positions[3], positions[4]]);
    }));

  test('an event comes back as it was given', () =>
    withStore(harness, async ({ store, stream }) => {
      const given = eventOf({ title: 'Guide', parts: [1, 2.5, null, true, { deep: [] }] }, 'SpaceCreated');
      const { position } = await store.append(stream('a-1'), [given], 'no-stream');
      const [event] = await collect(store.readStream(stream('a-1')));
      expect(event).toEqual({ ...given, stream: stream('a-1'), revision: 0, position });
    }));

  test('a wrong expectation is refused, says where the stream is, and writes nothing', () =>
    withStore(harness, async ({ store, stream, prefix }) => {
      const name = stream('a-1');
      await expect(store.append(name, numbered(1), 0)).rejects.toMatchObject({
        code: 'event_store.wrong_expected_revision',
        stream: name,
        expected: 0,
        actual: -1,
      });
      await store.append(name, numbered(2), 'no-stream');
      for (const expected of ['no-stream', 0, 2, 17] as const) {
        const refused = store.append(name, numbered(2), expected);
        await expect(refused).rejects.toBeInstanceOf(WrongExpectedRevision);
        await expect(refused).rejects.toMatchObject({ stream: name, expected, actual: 1 });
      }
      expect(await collect(store.readAll({ prefixes: [prefix] }))).toHaveLength(2);
    }));

  test('expectations that are no revision are mistakes of the program', () =>
    withStore(harness, async ({ store, stream }) => {
      for (const expected of [-1, 0.5, Number.NaN, 2 ** 60]) {
        await expect(store.append(stream('a-1'), numbered(1), expected)).rejects.toBeInstanceOf(RangeError);
      }
      expect(await collect(store.readStream(stream('a-1')))).toEqual([]);
    }));

  test('an append is all or nothing', () =>
    withStore(harness, async ({ store, stream }) => {
      const good = numbered(3);
      await expect(
        store.append(stream('a-1'), [...good, { ...eventOf(), data: undefined }], 'no-stream'),
      ).rejects.toBeInstanceOf(TypeError);
      await expect(store.append(stream('a-1'), [], 'no-stream')).rejects.toBeInstanceOf(TypeError);
      expect(await collect(store.readStream(stream('a-1')))).toEqual([]);
      await store.append(stream('a-1'), good, 'no-stream');
      expect(idsOf(await collect(store.readStream(stream('a-1'))))).toEqual(idsOf(good));
    }));

  test('the same events again answer the first result and write nothing', () =>
    withStore(harness, async ({ store, stream }) => {
      const created = numbered(2);
      const changed = numbered(3, 2);
      const first = await store.append(stream('a-1'), created, 'no-stream');
      const second = await store.append(stream('a-1'), changed, 1);
      await store.append(stream('a-1'), numbered(1, 5), 4);
      expect(await store.append(stream('a-1'), created, 'no-stream')).toEqual(first);
      expect(await store.append(stream('a-1'), changed, 1)).toEqual(second);
      expect(await collect(store.readStream(stream('a-1')))).toHaveLength(6);
    }));

  test('a repeat at the same moment is written once', () =>
    withStore(harness, async ({ store, stream, open }) => {
      const other = await open();
      const events = numbered(2);
      const clients = [store, other, store, store, other];
      const results = await Promise.all(clients.map((client) => client.append(stream('a-1'), events, 'no-stream')));
      expect(new Set(results.map(({ revision, position }) => `${revision} ${position}`)).size).toBe(1);
      expect(idsOf(await collect(store.readStream(stream('a-1'))))).toEqual(idsOf(events));
    }));

  test('a repeat that is not the same is a conflict', () =>
    withStore(harness, async ({ store, stream }) => {
      const [a, b] = numbered(2);
      const c = eventOf({ n: 2 });
      if (!a || !b) throw new Error('two events were made');
      await store.append(stream('a-1'), [a, b], 'no-stream');
      for (const events of [[a, c], [b, a], [a, b, c], [b]]) {
        await expect(store.append(stream('a-1'), events, 'no-stream')).rejects.toBeInstanceOf(WrongExpectedRevision);
      }
      expect(await collect(store.readStream(stream('a-1')))).toHaveLength(2);
    }));

  test('an id is used once in the store, and once in an append', () =>
    withStore(harness, async ({ store, stream }) => {
      const event = eventOf();
      await expect(store.append(stream('a-1'), [event, event], 'no-stream')).rejects.toBeInstanceOf(TypeError);
      await store.append(stream('a-1'), [event], 'no-stream');
      if (harness.capabilities?.uniqueEventIds === false) return;
      const taken = { code: 'event_store.event_id_taken', eventId: event.id };
      await expect(store.append(stream('a-2'), [eventOf(), event], 'no-stream')).rejects.toMatchObject(taken);
      await expect(store.append(stream('a-1'), [event], 0)).rejects.toMatchObject(taken);
      expect(await collect(store.readStream(stream('a-2')))).toEqual([]);
    }));

  test('ids are UUIDs, names are texts', () =>
    withStore(harness, async ({ store, stream, prefix }) => {
      for (const id of ['', 'x', randomUUID().toUpperCase(), `${randomUUID()}0`]) {
        await expect(store.append(stream('a-1'), [{ ...eventOf(), id }], 'no-stream')).rejects.toBeInstanceOf(
          TypeError,
        );
      }
      for (const name of ['', stream('a\0b'), stream('a-\ud800'), stream('x'.repeat(1000))]) {
        await expect(store.append(name, numbered(1), 'no-stream')).rejects.toBeInstanceOf(TypeError);
      }
      await expect(store.append(stream('a-1'), [eventOf({}, '')], 'no-stream')).rejects.toBeInstanceOf(TypeError);
      expect(await collect(store.readAll({ prefixes: [prefix] }))).toEqual([]);
    }));
};
