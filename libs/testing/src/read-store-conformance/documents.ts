import { expect, test } from '@jest/globals';
import { type ReadStoreHarness, type Sample, sampleSpec, withStore } from './harness.ts';

const HOSTILE = [
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  '{"$ref":"#/a","$set":{"x":1},"a.b":{"c.d":1},"":{"":""},"$":0,".":1}',
  '{"nested":[[[]],[{}],[[1,[2,[3]]]]],"empty":[],"sparse":[null,null]}',
  '{"9":"nine","10":"ten","z":1,"a":2}',
  '{"text":"\\u0000\\ud800\u2028\u2029 \\"\\\\ \u{1f469}\u200d\u{1f4bb} e\u0301 \u202e"}',
  '{"numbers":[1e+21,-0.000001,9007199254740991,1.7976931348623157e+308,5e-324,0.1]}',
  `${'{"deep":'.repeat(90)}1${'}'.repeat(90)}`,
];

/** Documents come back as they were stored. */
export const documents = (harness: ReadStoreHarness): void => {
  test.each(HOSTILE)('hostile document %# comes back byte-identical', (text) =>
    withStore(harness, async (store) => {
      const samples = await store.collection<unknown>(sampleSpec);
      // As JSON text, keys like integers come first; the text above already has that order.
      await samples.put('a', 1, JSON.parse(text));
      expect(JSON.stringify((await samples.get('a'))?.document)).toBe(text);
      expect(JSON.stringify((await samples.query({ limit: 1 }))[0]?.document)).toBe(text);
      expect(Reflect.get({}, 'polluted')).toBeUndefined();
    }),
  );

  test('a document is stored as it was when it was handed over', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      const document = { title: 'before', labels: ['before'] };
      const writing = samples.put('a', 1, document);
      document.title = 'after';
      document.labels.push('after');
      await writing;
      expect((await samples.get('a'))?.document).toEqual({ title: 'before', labels: ['before'] });
      expect(await samples.count({ labels: { contains: 'after' } })).toBe(0);
    }));

  test('ids of every script, and only ids', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      const ids = [
        'a',
        'A',
        'ä',
        'a\u0308',
        '文書',
        '\u{1f600}',
        "'; DROP TABLE x; --",
        '%',
        '$where',
        '__proto__',
        'a.b',
        'x'.repeat(1024),
      ];
      await Promise.all(ids.map((id, index) => samples.put(id, index, { index })));
      for (const [index, id] of ids.entries())
        expect(await samples.get(id)).toEqual({ id, revision: index, document: { index } });
      expect([...(await samples.getMany([...ids, 'none'])).keys()].toSorted()).toEqual(ids.toSorted());
      for (const id of ['', 'x'.repeat(1025), '\ud800'])
        await expect(samples.put(id, 1, {})).rejects.toThrow(TypeError);
      for (const revision of [-1, 1.5, Number.NaN, 2 ** 53])
        await expect(samples.put('a', revision, {})).rejects.toThrow(RangeError);
    }));

  test('what is not JSON is refused and harms no other write', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<unknown>(sampleSpec);
      const cycle: { self?: unknown } = {};
      cycle.self = cycle;
      const results = await Promise.allSettled([
        samples.put('a', 1, cycle),
        samples.put('b', 1, 1n),
        samples.put('c', 1, undefined),
        samples.put('d', 1, {}),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'fulfilled']);
      expect(await samples.count()).toBe(1);
    }));

  test('1 MB documents', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      const body = 'Größe 文 '.repeat(80_000);
      await Promise.all(
        Array.from({ length: 10 }, (_, index) => samples.put(`d${index}`, 1, { spaceId: 's', createdAt: index, body })),
      );
      const found = await samples.query({
        where: { spaceId: 's' },
        orderBy: [{ field: 'createdAt', direction: 'desc' }],
        limit: 3,
      });
      expect(found.map(({ document }) => [document.createdAt, document.body === body])).toEqual([
        [9, true],
        [8, true],
        [7, true],
      ]);
    }));
};
