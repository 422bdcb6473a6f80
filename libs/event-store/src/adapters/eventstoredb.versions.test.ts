import { SERVER_VERSIONS } from '@bindery/testing/eventstoredb-double';
import { describe, expect, test } from '@jest/globals';
import type { RecordedEvent } from '../port.ts';
import { collect, eventOf, Listener, withDouble } from './eventstoredb/testing.ts';

const caughtUp = ({ items }: Listener): boolean => items.some(({ kind }) => kind === 'caught-up');
const idsOf = (events: readonly RecordedEvent[]): string[] => events.map(({ id }) => id);

/** Every version of the server that the product supports says in its own way how far a subscription is. */
describe.each(SERVER_VERSIONS)('a server of version %s', (version) => {
  test('a subscription to what is not there yet comes to the end of an empty log', () =>
    withDouble(
      async (place) => {
        const store = place.open();
        const listener = new Listener(store, { prefixes: ['a-'] });
        await listener.until(caughtUp);
        expect(listener.items).toEqual([{ kind: 'caught-up', position: 0 }]);
        await store.append('a-1', [eventOf(0)], 'no-stream');
        await listener.until(({ events }) => events.length === 1);
        await listener.stop();
      },
      { version },
    ));

  test.each([0, 1, 31, 32, 33, 64, 96])('after %i events: the event that is written next is seen', (count) =>
    withDouble(
      async (place) => {
        const store = place.open();
        const before = Array.from({ length: count }, (_, n) => eventOf(n));
        if (count > 0) await store.append('a-1', before, 'no-stream');
        const listener = new Listener(store, { prefixes: ['a-'] });
        await listener.until(caughtUp);
        const next = [eventOf(count), eventOf(count + 1)];
        await store.append('a-2', next, 'no-stream');
        await listener.until(({ events }) => events.length >= count + 2);
        expect(idsOf(listener.events)).toEqual([...before, ...next].map(({ id }) => id));
        await listener.stop();
      },
      { version },
    ),
  );

  test('resumed at every place that a subscription ever named, it misses nothing and repeats nothing', () =>
    withDouble(
      async (place) => {
        const store = place.open();
        const writer = place.open({ callTimeoutMs: 20_000, appendTimeoutMs: 40_000 });
        // Runs of foreign events that are longer than what lies between two checkpoints, and shorter ones.
        for (const [round, foreign] of [2100, 3, 2048, 2047, 700, 5000, 1].entries()) {
          const events = Array.from({ length: foreign }, (_, n) => eventOf(n));
          await writer.append(`foreign-${round}`, events, 'no-stream');
          await writer.append(`mine-${round}`, [eventOf(0), eventOf(1)], 'no-stream');
        }
        const all = await collect(store.readAll({ prefixes: ['mine-'] }));
        expect(all).toHaveLength(14);
        const listener = new Listener(store, { prefixes: ['mine-'] });
        await listener.until(caughtUp);
        await listener.stop();
        expect(idsOf(listener.events)).toEqual(idsOf(all));
        for (const { position } of listener.items) {
          const rest = idsOf(all.filter((event) => event.position > position));
          const resumed = new Listener(store, { after: position, prefixes: ['mine-'] });
          await resumed.until((again) => caughtUp(again) && again.events.length >= rest.length);
          await resumed.stop();
          expect([position, idsOf(resumed.events)]).toEqual([position, rest]);
          expect(idsOf(await collect(store.readAll({ after: position, prefixes: ['mine-'] })))).toEqual(rest);
        }
      },
      { version },
    ));
});
