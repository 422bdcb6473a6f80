import type { Position } from '@bindery/event-store';
import { expect, test } from '@jest/globals';
import { collect, type EventStoreHarness, Follower, idsOf, numbered, withStore } from './harness.ts';

/** Catching up, going live, resuming, ending. */
export const subscriptions = (harness: EventStoreHarness): void => {
  test('catches up, says so, and goes on live', () =>
    withStore(harness, async ({ store, stream, prefix, start }) => {
      const old = numbered(700);
      const { position } = await store.append(stream('a-1'), old, 'no-stream');
      const follower = new Follower(harness, store, { after: start, prefixes: [prefix] });
      await follower.untilCaughtUp(position);
      expect(idsOf(follower.events)).toEqual(idsOf(old));
      const live = numbered(10, 700);
      for (const [index, event] of live.entries()) await store.append(stream('a-1'), [event], 699 + index);
      await follower.until(({ events }) => events.length >= 710);
      expect(idsOf(follower.events)).toEqual(idsOf([...old, ...live]));
      await follower.stop();
    }));

  test('goes live under appends of two clients without a gap or a repeat', () =>
    withStore(harness, async ({ store, stream, prefix, start, open }) => {
      const other = await open();
      const total = 4 * 250;
      const writers = [store, other, store, other].map(async (client, writer) => {
        for (let n = 0; n < 250; n += 1) {
          await client.append(stream(`w-${writer}`), numbered(1, n), n === 0 ? 'no-stream' : n - 1);
        }
      });
      const followers = [store, other, store].map(
        (client) => new Follower(harness, client, { after: start, prefixes: [prefix] }),
      );
      await Promise.all(writers);
      const late = new Follower(harness, store, { after: start, prefixes: [prefix] });
      const expected = idsOf(await collect(store.readAll({ after: start, prefixes: [prefix] })));
      expect(expected).toHaveLength(total);
      for (const follower of [...followers, late]) {
        await follower.until(({ events }) => events.length >= total);
        expect(idsOf(follower.events)).toEqual(expected);
        await follower.stop();
      }
    }));

  test('resumed at any event it goes on with the next', () =>
    withStore(harness, async ({ store, stream, prefix, start }) => {
      await store.append(stream('a-1'), numbered(30), 'no-stream');
      await store.append(stream('b-1'), numbered(30), 'no-stream');
      const all = await collect(store.readAll({ after: start, prefixes: [prefix] }));
      for (const [index, { position }] of all.entries()) {
        const follower = new Follower(harness, store, { after: position, prefixes: [prefix] });
        await follower.until(({ events }) => events.length >= all.length - index - 1);
        await follower.untilCaughtUp(index === all.length - 1 ? position : (all.at(-1)?.position ?? 0));
        expect(idsOf(follower.events)).toEqual(idsOf(all.slice(index + 1)));
        await follower.stop();
      }
    }));

  test('stopped and resumed from its own positions it sees every event once', () =>
    withStore(harness, async ({ store, stream, prefix, start }) => {
      const total = 600;
      const writer = (async () => {
        for (let n = 0; n < total; n += 1) {
          await store.append(stream('a-1'), numbered(1, n), n === 0 ? 'no-stream' : n - 1);
        }
      })();
      const seen: string[] = [];
      let position: Position = start;
      let lives = 0;
      while (seen.length < total) {
        lives += 1;
        const abort = new AbortController();
        for await (const item of store.subscribe({ after: position, prefixes: [prefix], signal: abort.signal })) {
          if (item.kind === 'events') seen.push(...idsOf(item.events));
          position = item.position;
          if (item.kind === 'events' && (seen.length >= total || lives < 40)) abort.abort();
        }
      }
      await writer;
      expect(lives).toBeGreaterThan(3);
      expect(seen).toEqual(idsOf(await collect(store.readStream(stream('a-1')))));
    }));

  test('its position advances over events that do not match', () =>
    withStore(harness, async ({ store, stream, start }) => {
      const follower = new Follower(harness, store, { after: start, prefixes: [stream('quiet-')] });
      const { position } = await store.append(stream('busy-1'), numbered(1200), 'no-stream');
      await follower.untilCaughtUp(position);
      expect(follower.events).toEqual([]);
      const { position: last } = await store.append(stream('quiet-1'), numbered(1), 'no-stream');
      await follower.untilCaughtUp(last);
      expect(follower.events).toHaveLength(1);
      const positions = follower.items.map((item) => item.position);
      expect(positions).toEqual([...positions].sort((a, b) => a - b));
      await follower.stop();
    }));

  test('an empty part of the log is caught up at once', () =>
    withStore(harness, async ({ store, prefix, start }) => {
      const follower = new Follower(harness, store, { after: start, prefixes: [prefix] });
      await follower.untilCaughtUp(start);
      expect(follower.items.every((item) => item.kind === 'caught-up')).toBe(true);
      await follower.stop();
    }));

  test('a page says how far it got, and its events are not beyond', () =>
    withStore(harness, async ({ store, stream, start, prefix }) => {
      await store.append(stream('a-1'), numbered(2000), 'no-stream');
      const follower = new Follower(harness, store, { after: start, prefixes: [prefix] });
      await follower.until(({ events }) => events.length === 2000);
      let before = start;
      for (const item of follower.items) {
        if (item.kind === 'events') {
          for (const { position } of item.events) {
            expect(position).toBeGreaterThan(before);
            expect(position).toBeLessThanOrEqual(item.position);
          }
        }
        before = item.position;
      }
      await follower.stop();
    }));

  test('a slow reader holds nobody up and misses nothing', () =>
    withStore(harness, async ({ store, stream, prefix, start }) => {
      let open: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        open = resolve;
      });
      const slow = new Follower(harness, store, { after: start, prefixes: [prefix] }, () => gate);
      const quick = new Follower(harness, store, { after: start, prefixes: [prefix] });
      await slow.until(({ items }) => items.length > 0);
      for (let n = 0; n < 200; n += 1) {
        await store.append(stream('a-1'), numbered(5, n * 5), n === 0 ? 'no-stream' : n * 5 - 1);
      }
      await quick.until(({ events }) => events.length === 1000);
      expect(slow.items).toHaveLength(1);
      open();
      await slow.until(({ events }) => events.length === 1000);
      expect(idsOf(slow.events)).toEqual(idsOf(quick.events));
      await Promise.all([slow.stop(), quick.stop()]);
    }));

  test('ends when aborted: before, while it waits, and in the middle of a page', () =>
    withStore(harness, async ({ store, stream, start, prefix }) => {
      const items = await collect(store.subscribe({ after: start, signal: AbortSignal.abort() }));
      expect(items).toEqual([]);
      const waiting = new Follower(harness, store, { after: start, prefixes: [prefix] });
      await waiting.untilCaughtUp(start);
      await waiting.stop();
      await store.append(stream('a-1'), numbered(1000), 'no-stream');
      const abort = new AbortController();
      let pages = 0;
      for await (const _item of store.subscribe({ after: start, signal: abort.signal })) {
        pages += 1;
        abort.abort();
      }
      expect(pages).toBe(1);
    }));

  test('a reader that leaves the loop or throws leaves nothing behind', () =>
    withStore(harness, async ({ store, stream, start, prefix }) => {
      await store.append(stream('a-1'), numbered(10), 'no-stream');
      const { signal } = new AbortController();
      for (let round = 0; round < 20; round += 1) {
        for await (const _item of store.subscribe({ after: start, prefixes: [prefix], signal })) break;
        const failing = async (): Promise<void> => {
          for await (const _item of store.subscribe({ after: start, prefixes: [prefix], signal }))
            throw new Error('mine');
        };
        await expect(failing()).rejects.toThrow('mine');
      }
      const follower = new Follower(harness, store, { after: start, prefixes: [prefix] });
      await follower.until(({ events }) => events.length === 10);
      await follower.stop();
    }));
};
