import type { ExpectedRevision, RecordedEvent } from '@bindery/event-store';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { collect, type EventStoreHarness, eventOf, withStore } from './harness.ts';

type Step =
  | { readonly kind: 'append'; readonly stream: number; readonly offset: number; readonly data: readonly unknown[] }
  | { readonly kind: 'repeat'; readonly index: number }
  | {
      readonly kind: 'read';
      readonly stream: number;
      readonly from: number;
      readonly limit: number;
      readonly backwards: boolean;
    };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      stream: fc.nat({ max: 3 }),
      offset: fc.constantFrom(0, 0, 0, -1, 1),
      data: fc.array(fc.jsonValue(), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('repeat' as const), index: fc.nat({ max: 20 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      stream: fc.nat({ max: 3 }),
      from: fc.nat({ max: 12 }),
      limit: fc.nat({ max: 8 }),
      backwards: fc.boolean(),
    }),
  },
);

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const dataOf = (events: readonly RecordedEvent[]): unknown[] => events.map(({ data }) => data);

/** Any sequence of appends and reads behaves like an array per stream. */
export const model = (harness: EventStoreHarness): void => {
  test('any sequence of steps behaves like arrays in memory', () =>
    withStore(harness, async ({ store, stream, start }) => {
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          runs += 1;
          const name = (index: number): string => stream(`run${'x'.repeat(runs)}.s-${index}`);
          const streams: unknown[][] = [[], [], [], []];
          const log: unknown[] = [];
          const done: { readonly again: () => ReturnType<typeof store.append>; readonly result: unknown }[] = [];
          for (const action of steps) {
            if (action.kind === 'append') {
              const expectedStream = streams[action.stream] ?? [];
              const wanted = expectedStream.length - 1 + action.offset;
              const expected: ExpectedRevision = wanted < 0 ? 'no-stream' : wanted;
              const events = action.data.map((data) => eventOf(data));
              const append = (): ReturnType<typeof store.append> => store.append(name(action.stream), events, expected);
              if (Math.max(-1, wanted) !== expectedStream.length - 1) {
                await expect(append()).rejects.toMatchObject({ actual: expectedStream.length - 1 });
                continue;
              }
              const result = await append();
              expectedStream.push(...action.data.map(plain));
              log.push(...action.data.map(plain));
              expect(result).toMatchObject({ revision: expectedStream.length - 1 });
              done.push({ again: append, result });
            } else if (action.kind === 'repeat') {
              const earlier = done[action.index % Math.max(1, done.length)];
              if (earlier) expect(await earlier.again()).toEqual(earlier.result);
            } else {
              const { from, limit, backwards } = action;
              const all = streams[action.stream] ?? [];
              const direction = backwards ? 'backwards' : 'forwards';
              const read = await collect(store.readStream(name(action.stream), { from, limit, direction }));
              const part = backwards ? all.slice(0, from + 1).reverse() : all.slice(from);
              expect(dataOf(read)).toEqual(part.slice(0, limit));
            }
          }
          const prefixes = [stream(`run${'x'.repeat(runs)}.`)];
          expect(dataOf(await collect(store.readAll({ after: start, prefixes })))).toEqual(log);
        }),
        { numRuns: 40 },
      );
    }));
};
