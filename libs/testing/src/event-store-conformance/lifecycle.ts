import { EventStoreUnavailable } from '@bindery/event-store';
import { expect, test } from '@jest/globals';
import { collect, type EventStoreHarness, Follower, idsOf, numbered, withStore } from './harness.ts';

/** Closing, opening again, restarts. */
export const lifecycle = (harness: EventStoreHarness): void => {
  test('closing finishes the appends under way; everything is there for the next client', () =>
    withStore(harness, async ({ store, stream, prefix, start, open }) => {
      const events = numbered(200);
      const pending = events.map((event, index) => store.append(stream(`a-${index}`), [event], 'no-stream'));
      await Promise.all([store.close(), store.close()]);
      await Promise.all(pending);
      await store.close();
      const again = await open();
      const stored = await collect(again.readAll({ after: start, prefixes: [prefix] }));
      expect(idsOf(stored).sort()).toEqual(idsOf(events).sort());
    }));

  test('a closed client says so', () =>
    withStore(harness, async ({ store, stream }) => {
      await store.close();
      await expect(store.append(stream('a-1'), numbered(1), 'no-stream')).rejects.toBeInstanceOf(EventStoreUnavailable);
      await expect(collect(store.readStream(stream('a-1')))).rejects.toBeInstanceOf(EventStoreUnavailable);
      await expect(collect(store.readAll())).rejects.toBeInstanceOf(EventStoreUnavailable);
      await expect(store.head()).rejects.toBeInstanceOf(EventStoreUnavailable);
      const { signal } = new AbortController();
      await expect(collect(store.subscribe({ signal }))).rejects.toBeInstanceOf(EventStoreUnavailable);
    }));

  test('a subscription that runs when its client closes does not hang', () =>
    withStore(harness, async ({ store, prefix, start }) => {
      const follower = new Follower(harness, store, { after: start, prefixes: [prefix] });
      await follower.untilCaughtUp(start);
      await store.close();
      await expect(follower.ended).rejects.toBeInstanceOf(EventStoreUnavailable);
    }));

  test('clients that come and go leave revisions, order and repeats intact', () =>
    withStore(harness, async ({ stream, prefix, start, place, store }) => {
      const all: string[] = [];
      for (let life = 0; life < 8; life += 1) {
        const client = await place.open();
        const events = numbered(3, life * 3);
        const expected = life === 0 ? 'no-stream' : life * 3 - 1;
        const first = await client.append(stream('a-1'), events, expected);
        await client.close();
        await place.restart?.();
        const next = await place.open();
        expect(await next.append(stream('a-1'), events, expected)).toEqual(first);
        await next.close();
        all.push(...idsOf(events));
      }
      const stored = await collect(store.readAll({ after: start, prefixes: [prefix] }));
      expect(idsOf(stored)).toEqual(all);
      expect(stored.map(({ revision }) => revision)).toEqual(all.map((_, index) => index));
    }));

  test('a subscription goes on over a restart of the store', () =>
    withStore(harness, async ({ store, stream, prefix, start, place, open }) => {
      const follower = new Follower(harness, store, { after: start, prefixes: [prefix] });
      for (let life = 0; life < 3; life += 1) {
        const client = await open();
        await client.append(stream('a-1'), numbered(2, life * 2), life === 0 ? 'no-stream' : life * 2 - 1);
        await follower.until(({ events }) => events.length >= (life + 1) * 2);
        await place.restart?.();
      }
      expect(follower.events.map(({ data }) => data)).toEqual([0, 1, 2, 3, 4, 5].map((n) => ({ n })));
      await follower.stop();
    }));
};
