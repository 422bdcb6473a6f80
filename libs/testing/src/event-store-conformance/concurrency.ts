import { type EventStore, WrongExpectedRevision } from '@bindery/event-store';
import { expect, test } from '@jest/globals';
import { collect, type EventStoreHarness, eventOf, idsOf, numbered, withStore } from './harness.ts';

const WRITERS = 20;
const ROUNDS = 50;

/** Whether the append won; a conflict is the only other outcome. */
const wins = async (append: Promise<unknown>): Promise<boolean> => {
  try {
    await append;
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(WrongExpectedRevision);
    return false;
  }
};

/** Several writers at once, in one client and in several. */
export const concurrency = (harness: EventStoreHarness): void => {
  const contended = harness.contendedRounds ?? ROUNDS;

  test('of two writers with the same expectation one wins', () =>
    withStore(harness, async ({ store, stream, open }) => {
      const other = await open();
      const winners: string[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const expected = round === 0 ? 'no-stream' : round - 1;
        const rivals = [store, other].map((client) => ({ client, event: eventOf({ round }) }));
        const won = await Promise.all(
          rivals.map(({ client, event }) => wins(client.append(stream('a-1'), [event], expected))),
        );
        expect(won.filter(Boolean)).toHaveLength(1);
        winners.push(rivals[won.indexOf(true)]?.event.id ?? '');
      }
      expect(idsOf(await collect(store.readStream(stream('a-1'))))).toEqual(winners);
    }));

  test(`${WRITERS} writers, ${contended} rounds: one success per revision, no gap, nothing lost`, () =>
    withStore(harness, async ({ store, stream, open }) => {
      const clients: EventStore[] = [store, await open()];
      const acknowledged = new Map<number, string>();
      const writer = async (client: EventStore): Promise<void> => {
        for (let done = 0; done < contended; ) {
          const [last] = await collect(client.readStream(stream('counter-1'), { direction: 'backwards', limit: 1 }));
          const event = eventOf({ n: (last?.revision ?? -1) + 1 });
          const expected = last?.revision ?? 'no-stream';
          if (!(await wins(client.append(stream('counter-1'), [event], expected)))) continue;
          expect(acknowledged.has(last ? last.revision + 1 : 0)).toBe(false);
          acknowledged.set(last ? last.revision + 1 : 0, event.id);
          done += 1;
        }
      };
      await Promise.all(Array.from({ length: WRITERS }, (_, index) => writer(clients[index % 2] ?? store)));
      const events = await collect(store.readStream(stream('counter-1')));
      expect(events.map(({ data }) => data)).toEqual(Array.from({ length: WRITERS * contended }, (_, n) => ({ n })));
      expect(idsOf(events)).toEqual(events.map(({ revision }) => acknowledged.get(revision)));
    }));

  test('appends that fail do not touch those beside them', () =>
    withStore(harness, async ({ store, stream }) => {
      const cycle: Record<string, unknown> = {};
      cycle.self = cycle;
      const outcomes = await Promise.allSettled(
        Array.from({ length: 60 }, (_, index) => {
          const name = stream(`a-${index}`);
          if (index % 4 === 1) return store.append(name, numbered(1), 7);
          if (index % 4 === 2) return store.append(name, [eventOf(1), eventOf(cycle)], 'no-stream');
          if (index % 4 === 3) return store.append(name, [eventOf(10n)], 'no-stream');
          return store.append(name, numbered(2), 'no-stream');
        }),
      );
      for (const [index, outcome] of outcomes.entries()) {
        expect(outcome.status).toBe(index % 4 === 0 ? 'fulfilled' : 'rejected');
        expect(await collect(store.readStream(stream(`a-${index}`)))).toHaveLength(index % 4 === 0 ? 2 : 0);
      }
    }));

  test('appends of one writer keep their order without waiting for each other', () =>
    withStore(harness, async ({ store, stream }) => {
      const events = numbered(300);
      const pending = events.map((event, index) =>
        store.append(stream('a-1'), [event], index === 0 ? 'no-stream' : index - 1),
      );
      const results = await Promise.all(pending);
      expect(results.map(({ revision }) => revision)).toEqual(events.map((_, index) => index));
      expect(idsOf(await collect(store.readStream(stream('a-1'))))).toEqual(idsOf(events));
    }));
};
