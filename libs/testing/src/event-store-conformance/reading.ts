import { expect, test } from '@jest/globals';
import { collect, type EventStoreHarness, eventOf, idsOf, numbered, withStore } from './harness.ts';

/** Streams, the whole log, prefixes, head and count. */
export const reading = (harness: EventStoreHarness): void => {
  test('a stream from any revision, in both directions, with any limit', () =>
    withStore(harness, async ({ store, stream }) => {
      const total = 300;
      await store.append(stream('a-1'), numbered(total), 'no-stream');
      const revisions = async (options: Parameters<typeof store.readStream>[1]): Promise<number[]> =>
        (await collect(store.readStream(stream('a-1'), options))).map(({ revision }) => revision);
      const all = Array.from({ length: total }, (_, index) => index);
      expect(await revisions({})).toEqual(all);
      expect(await revisions({ direction: 'backwards' })).toEqual([...all].reverse());
      for (const from of [0, 1, 63, 64, 65, 298, 299, 300, 5000]) {
        expect(await revisions({ from })).toEqual(all.slice(from));
        expect(await revisions({ from, direction: 'backwards' })).toEqual(all.slice(0, from + 1).reverse());
        for (const limit of [0, 1, 64, 65, 1000]) {
          expect(await revisions({ from, limit })).toEqual(all.slice(from, from + limit));
          const backwards = all.slice(0, from + 1).reverse();
          expect(await revisions({ from, limit, direction: 'backwards' })).toEqual(backwards.slice(0, limit));
        }
      }
    }));

  test('a stream that does not exist has no events', () =>
    withStore(harness, async ({ store, stream }) => {
      await store.append(stream('a-1'), numbered(1), 'no-stream');
      for (const name of [stream('a-2'), stream('a-'), stream('A-1'), stream('a-11')]) {
        expect(await collect(store.readStream(name))).toEqual([]);
        expect(await collect(store.readStream(name, { direction: 'backwards', limit: 1 }))).toEqual([]);
      }
    }));

  test('the log is in the order of the appends, whatever the streams', () =>
    withStore(harness, async ({ store, stream, prefix, start }) => {
      const written: string[] = [];
      for (let index = 0; index < 200; index += 1) {
        const events = numbered(1 + (index % 3));
        const [last] = await collect(store.readStream(stream(`s-${index % 7}`), { direction: 'backwards', limit: 1 }));
        await store.append(stream(`s-${index % 7}`), events, last?.revision ?? 'no-stream');
        written.push(...idsOf(events));
      }
      const events = await collect(store.readAll({ after: start, prefixes: [prefix] }));
      expect(idsOf(events)).toEqual(written);
      const positions = events.map(({ position }) => position);
      expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
      for (const cut of [0, 1, 63, 64, 200, written.length - 1]) {
        const after = positions[cut] ?? start;
        expect(idsOf(await collect(store.readAll({ after, prefixes: [prefix] })))).toEqual(written.slice(cut + 1));
        const limited = await collect(store.readAll({ after, prefixes: [prefix], limit: 10 }));
        expect(idsOf(limited)).toEqual(written.slice(cut + 1, cut + 11));
      }
      expect(await collect(store.readAll({ after: start, prefixes: [prefix], limit: 0 }))).toEqual([]);
    }));

  test('without prefixes the log holds everything', () =>
    withStore(harness, async ({ store, stream, prefix, start }) => {
      await store.append(stream('a-1'), numbered(5), 'no-stream');
      const all = await collect(store.readAll({ after: start }));
      const mine = await collect(store.readAll({ after: start, prefixes: [prefix] }));
      expect(all.filter((event) => event.stream.startsWith(prefix))).toEqual(mine);
      expect(mine).toHaveLength(5);
    }));

  test('prefixes select streams by the letters of their names', () =>
    withStore(harness, async ({ store, stream, start }) => {
      const names = [
        'content.space-1', 'content.space-12', 'content.space', 'content.spaces-1', 'content.change-request-x1',
        'content.change-request-Y2', 'contents.space-1', 'content', 'sites.site-1', 'Content.space-1', 'content.ümlaut-1',
        'content.%-1', 'content._-1', 'content.😀-1',
      ].map(stream); // biome-ignore format: a list of names
      for (const round of [0, 1]) {
        for (const name of names) await store.append(name, [eventOf({ round })], round === 0 ? 'no-stream' : 0);
      }
      const prefixLists = [
        ['content.'], ['content'], ['content.space-'], ['content.space-1'], ['content.change-'], ['content.change-request-x'],
        ['content.%'], ['content._'], ['content.ü'], ['content.😀'], ['nothing'], ['sites.', 'content.space-12'], [''],
        ['content.space-', 'content.', 'content.space-1'], [],
      ]; // biome-ignore format: a list of lists
      for (const list of prefixLists) {
        const prefixes = list.map(stream);
        const expected = [0, 1].flatMap(() =>
          names.filter((name) => prefixes.some((prefix) => name.startsWith(prefix))),
        );
        const found = await collect(store.readAll({ after: start, prefixes }));
        expect([list, found.map((event) => event.stream)]).toEqual([list, expected]);
        expect(await store.head(prefixes)).toBe(found.at(-1)?.position ?? 0);
      }
    }));

  test('the head and the count follow the appends', () =>
    withStore(harness, async ({ store, stream, prefix }) => {
      const counted = await store.count();
      expect(await store.head([prefix])).toBe(0);
      const first = await store.append(stream('a-1'), numbered(2), 'no-stream');
      const second = await store.append(stream('b-1'), numbered(3), 'no-stream');
      expect(await store.head([prefix])).toBe(second.position);
      expect(await store.head([stream('a-')])).toBe(first.position);
      expect(await store.head([stream('a-1')])).toBe(first.position);
      expect(await store.head([stream('b-'), stream('a-')])).toBe(second.position);
      expect(await store.head()).toBeGreaterThanOrEqual(second.position);
      expect(await store.count()).toBeGreaterThanOrEqual(counted + 5);
    }));

  test('a read of the log ends with the reason when it is aborted', () =>
    withStore(harness, async ({ store, stream, start }) => {
      await store.append(stream('a-1'), numbered(2000), 'no-stream');
      const abort = new AbortController();
      const reason = new Error('no longer wanted');
      const read = async (): Promise<void> => {
        for await (const _event of store.readAll({ after: start, signal: abort.signal })) abort.abort(reason);
      };
      await expect(read()).rejects.toBe(reason);
      await expect(collect(store.readAll({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    }));

  test('a reader sees what another client wrote, at once', () =>
    withStore(harness, async ({ store, stream, open, start, prefix }) => {
      const other = await open();
      for (let n = 0; n < 50; n += 1) {
        const [writer, reader] = n % 2 === 0 ? [store, other] : [other, store];
        const { position } = await writer.append(stream('a-1'), numbered(1, n), n === 0 ? 'no-stream' : n - 1);
        const [last] = await collect(reader.readStream(stream('a-1'), { direction: 'backwards', limit: 1 }));
        expect(last).toMatchObject({ revision: n, position, data: { n } });
        expect(await reader.head([prefix])).toBe(position);
      }
      expect(await collect(other.readAll({ after: start, prefixes: [prefix] }))).toHaveLength(50);
    }));
};
