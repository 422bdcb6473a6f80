import { expect, test } from '@jest/globals';
import { type EventStoreHarness, Follower, numbered, withStore } from './harness.ts';

const PER_APPEND = 500;
const STREAMS = 20;

/** Many events. */
export const scale = (harness: EventStoreHarness): void => {
  const total = harness.manyEvents ?? 100_000;

  test(
    `${total} events: read, followed and counted`,
    () =>
      withStore(harness, async ({ store, stream, prefix, start }) => {
        const counted = await store.count();
        const perStream = total / STREAMS;
        await Promise.all(
          Array.from({ length: STREAMS }, async (_, index) => {
            for (let from = 0; from < perStream; from += PER_APPEND) {
              const count = Math.min(PER_APPEND, perStream - from);
              await store.append(
                stream(`s${index % 2 === 0 ? 'even' : 'odd'}-${index}`),
                numbered(count, from),
                from === 0 ? 'no-stream' : from - 1,
              );
            }
          }),
        );
        expect(await store.count()).toBeGreaterThanOrEqual(counted + total);
        const next = new Map<string, number>();
        let last = start;
        let ordered = 0;
        for await (const event of store.readAll({ after: start, prefixes: [prefix] })) {
          if (event.revision === (next.get(event.stream) ?? 0) && event.position > last) ordered += 1;
          next.set(event.stream, event.revision + 1);
          last = event.position;
        }
        expect(ordered).toBe(total);
        expect(await store.head([prefix])).toBe(last);
        const follower = new Follower(harness, store, { after: start, prefixes: [stream('sodd-')] });
        await follower.untilCaughtUp(last);
        expect(follower.events).toHaveLength(total / 2);
        await follower.stop();
      }),
    120_000,
  );
};
