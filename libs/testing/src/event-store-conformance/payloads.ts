import { expect, test } from '@jest/globals';
import { collect, type EventStoreHarness, eventOf, metadataOf, numbered, withStore } from './harness.ts';

/** Texts that get lost on the way when somebody is careless. */
export const HOSTILE_TEXTS: readonly string[] = [
  '',
  '😀👩‍👩‍👧‍👦🏳️‍🌈',
  'שלום עליכם مرحبا',
  '\u202Eright to left override',
  'e\u0301 o\u0308 combining',
  'é precomposed',
  'nul \0 inside',
  '\u0001\u001f\u007f\u0080\ufeff\ufffe\uffff',
  'line\u2028and paragraph\u2029separator',
  'lone high \ud83d and low \ude00 surrogate',
  '日本語 中文 한국어',
  '𝕬𝖘𝖙𝖗𝖆𝖑 \u{10FFFF}',
  '\\ " \' ` {{x}} <script> %00 %s',
  '\r\n\t',
];

/** Sizes, characters and keys. */
export const payloads = (harness: EventStoreHarness): void => {
  const megabyte = harness.capabilities?.payloadBytes ?? 1_000_000;

  test('a payload of 1 MB', () =>
    withStore(harness, async ({ store, stream, prefix, start }) => {
      const text = 'Ünï😀 '.repeat(megabyte).slice(0, megabyte / 2);
      const given = [eventOf({ text }), eventOf({ text: 'x'.repeat(megabyte) }), eventOf({ small: true })];
      for (const [index, event] of given.entries()) {
        await store.append(stream('a-1'), [event], index === 0 ? 'no-stream' : index - 1);
      }
      expect((await collect(store.readStream(stream('a-1')))).map(({ data }) => data)).toEqual(
        given.map(({ data }) => data),
      );
      const all = await collect(store.readAll({ after: start, prefixes: [prefix] }));
      expect(all.map(({ id }) => id)).toEqual(given.map(({ id }) => id));
    }));

  test('every character, in values and keys of data and metadata', () =>
    withStore(harness, async ({ store, stream }) => {
      const given = HOSTILE_TEXTS.map((text) => ({
        ...eventOf({ text, list: [text], [text]: text }),
        metadata: metadataOf({ correlationId: text, actor: { kind: 'integration', id: text } }),
      }));
      await store.append(stream('a-1'), given, 'no-stream');
      const events = await collect(store.readStream(stream('a-1')));
      expect(events.map(({ data, metadata }) => ({ data, metadata }))).toEqual(
        given.map(({ data, metadata }) => ({ data, metadata })),
      );
    }));

  test('every character that is text in names of streams and types', () =>
    withStore(harness, async ({ store, stream, prefix, start }) => {
      const texts = HOSTILE_TEXTS.filter((text) => text !== '' && text.isWellFormed() && !text.includes('\0'));
      for (const text of texts) await store.append(stream(text), [eventOf({}, text)], 'no-stream');
      const events = await collect(store.readAll({ after: start, prefixes: [prefix] }));
      expect(events.map(({ stream: name, type }) => [name, type])).toEqual(texts.map((text) => [stream(text), text]));
      for (const text of texts) expect(await collect(store.readStream(stream(text)))).toHaveLength(1);
    }));

  test('keys that mean something elsewhere', () =>
    withStore(harness, async ({ store, stream }) => {
      const text =
        '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"$ref":"#/a","$where":"1","a.b.c":1,"":0,' +
        '"_id":"x","toJSON":null,"nested":[[[{"__proto__":null}]]],"1":"a","0":"b"}';
      await store.append(stream('a-1'), [eventOf(JSON.parse(text))], 'no-stream');
      const [event] = await collect(store.readStream(stream('a-1')));
      expect(JSON.stringify(event?.data)).toBe(JSON.stringify(JSON.parse(text)));
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    }));

  test('data of every kind of JSON', () =>
    withStore(harness, async ({ store, stream }) => {
      const values = [
        null,
        true,
        false,
        0,
        -0.5,
        1e300,
        5e-324,
        Number.MAX_SAFE_INTEGER,
        '',
        'x',
        [],
        {},
        [null],
        { a: null },
      ];
      await store.append(
        stream('a-1'),
        values.map((value) => eventOf(value)),
        'no-stream',
      );
      expect((await collect(store.readStream(stream('a-1')))).map(({ data }) => data)).toEqual(values);
    }));

  test('what is not JSON is refused before anything is written', () =>
    withStore(harness, async ({ store, stream }) => {
      const cycle: unknown[] = [];
      cycle.push(cycle);
      const throwing = {
        toJSON: () => {
          throw new Error('no');
        },
      };
      for (const data of [undefined, 1n, { deep: [1n] }, cycle, () => 1, Symbol('x'), throwing]) {
        await expect(
          store.append(stream('a-1'), [...numbered(1), { ...eventOf(), data }], 'no-stream'),
        ).rejects.toBeInstanceOf(TypeError);
      }
      expect(await collect(store.readStream(stream('a-1')))).toEqual([]);
      await store.append(stream('a-1'), numbered(1), 'no-stream');
    }));

  test('what is too large is refused before anything is written, by the bytes of all its events', () =>
    withStore(harness, async ({ store, stream }) => {
      const tooLarge = { code: 'event_store.append_too_large' };
      const [text, wide] = ['x'.repeat(7_600_000), 'ü'.repeat(7_600_000)];
      await expect(store.append(stream('a-1'), [eventOf(text), eventOf(text)], 'no-stream')).rejects.toMatchObject(
        tooLarge,
      );
      await expect(store.append(stream('a-1'), [eventOf(wide)], 'no-stream')).rejects.toMatchObject(tooLarge);
      const many = Array.from({ length: 10_001 }, () => eventOf());
      await expect(store.append(stream('a-1'), many, 'no-stream')).rejects.toMatchObject(tooLarge);
      expect(await collect(store.readStream(stream('a-1')))).toEqual([]);
    }));

  test('data that is changed after the call is stored as it was', () =>
    withStore(harness, async ({ store, stream }) => {
      const data = { list: [1] };
      const pending = store.append(stream('a-1'), [eventOf(data)], 'no-stream');
      data.list.push(2);
      await pending;
      const [event] = await collect(store.readStream(stream('a-1')));
      expect(event?.data).toEqual({ list: [1] });
    }));
};
