import type { Collection, Condition, Query, Scalar, Stored } from '@bindery/read-store';
import { expect, test } from '@jest/globals';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { type ReadStoreHarness, type Sample, sampleSpec, withStore } from './harness.ts';
import { answer, keysetOf } from './model.ts';

const TEXTS = ['', 'a', 'B', 'b', 'ba', 'é', 'z', 'ß', '文書', 'İ', '\u{1f600}', '\uffee', '10', '9', 'null'];
const NUMBERS = [-1.5, 0, 1, 2, 10, 1e21, 0.1, Number.MAX_SAFE_INTEGER];
const SCALARS: readonly Scalar[] = [...TEXTS, ...NUMBERS, true, false, null];

/** Every condition, order and page against the answers of a slow model. */
export const queries = (harness: ReadStoreHarness): void => {
  test('400 random queries over mixed values answer as the model does, on one page and page by page', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      const random = seededRandom(20_240_501);
      const documents = await fill(samples, random, 150);
      for (let round = 0; round < 400; round++) {
        const query = randomQuery(random);
        const expected = answer(documents, query);
        const hint = JSON.stringify(query);
        const whole = await samples.query({ ...query, limit: 1001 });
        expect([hint, whole.map(({ id }) => id)]).toEqual([hint, expected]);
        expect([hint, await pages(samples, query, 1 + random.below(40))]).toEqual([hint, expected]);
        if (query.where !== undefined && query.orderBy === undefined)
          expect([hint, await samples.count(query.where)]).toEqual([hint, expected.length]);
      }
    }));

  test('missing and null are the same, other types are not', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      const values: readonly unknown[] = [undefined, null, '', 0, false, [], {}, '0', 'false'];
      await Promise.all(values.map((flag, index) => samples.put(`d${index}`, 1, { flag })));
      const ids = async (condition: Condition): Promise<readonly string[]> =>
        (await samples.query({ where: { flag: condition }, limit: 100 })).map(({ id }) => id);
      expect(await ids(null)).toEqual(['d0', 'd1', 'd5', 'd6']);
      expect(await ids(0)).toEqual(['d3']);
      expect(await ids(false)).toEqual(['d4']);
      expect(await ids('')).toEqual(['d2']);
      expect(await ids({ in: [null, '0'] })).toEqual(['d0', 'd1', 'd5', 'd6', 'd7']);
      expect(await ids({ in: [] })).toEqual([]);
      expect(await ids({ gte: '' })).toEqual(['d2', 'd7', 'd8']);
      expect(await ids({ lte: 0 })).toEqual(['d3']);
      expect(await ids({ gte: false })).toEqual(['d4']);
      expect(await ids({ lt: true })).toEqual(['d4']);
    }));

  test('arrays of scalars and of objects are found by each element, also after a change', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      await samples.put('a', 1, {
        labels: ['x', 'y', 'x', 1, true, null],
        reviews: [{ userId: 'u1' }, { userId: 'u2' }],
      });
      await samples.put('b', 1, { labels: ['y'], reviews: [] });
      const ids = async (field: string, contains: Scalar): Promise<readonly string[]> =>
        (await samples.query({ where: { [field]: { contains } }, limit: 100 })).map(({ id }) => id);
      expect(await ids('labels', 'y')).toEqual(['a', 'b']);
      expect(await ids('labels', 'x')).toEqual(['a']);
      expect([
        await ids('labels', 1),
        await ids('labels', '1'),
        await ids('labels', true),
        await ids('labels', null),
      ]).toEqual([['a'], [], ['a'], ['a']]);
      expect(await ids('reviews.userId', 'u2')).toEqual(['a']);
      await samples.put('a', 2, { labels: ['z'] });
      expect([await ids('labels', 'x'), await ids('labels', 'z'), await ids('reviews.userId', 'u2')]).toEqual([
        [],
        ['a'],
        [],
      ]);
    }));

  test('what no index serves is a mistake of the caller, named', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      const missing = { code: 'read_store.missing_index' };
      await expect(samples.query({ where: { nothing: 1 }, limit: 1 })).rejects.toMatchObject({
        ...missing,
        field: 'nothing',
      });
      await expect(
        samples.query({ orderBy: [{ field: 'nothing', direction: 'asc' }], limit: 1 }),
      ).rejects.toMatchObject(missing);
      await expect(samples.query({ where: { title: { contains: 'x' } }, limit: 1 })).rejects.toMatchObject(missing);
      await expect(samples.query({ where: { createdAt: 'x' }, limit: 1 })).rejects.toMatchObject(missing);
      await expect(samples.query({ where: { title: { ne: 'x' } }, limit: 1 })).rejects.toMatchObject(missing);
      await expect(samples.count({ nothing: 1 })).rejects.toMatchObject(missing);
      await expect(samples.purge({ nothing: 1 }, 1)).rejects.toMatchObject(missing);
      for (const limit of [0, 1002, 1.5, Number.NaN])
        await expect(samples.query({ limit })).rejects.toThrow(RangeError);
      await expect(samples.query({ after: ['x', 'y'], limit: 1 })).rejects.toThrow(TypeError);
      await expect(samples.getMany(Array.from({ length: 1001 }, String))).rejects.toThrow(RangeError);
    }));
};

const fill = async (
  samples: Collection<Sample>,
  random: SeededRandom,
  count: number,
): Promise<readonly Stored<Sample>[]> => {
  const maybe = (value: unknown): unknown => (random.below(8) === 0 ? undefined : value);
  const stored = Array.from({ length: count }, (_, index) => ({
    id: `${random.pick(TEXTS)}${index}`,
    revision: random.below(100),
    document: {
      spaceId: maybe(`s${random.below(3)}`),
      createdAt: maybe(random.pick(SCALARS)),
      title: maybe(random.pick(SCALARS)),
      rank: maybe(random.pick(SCALARS)),
      flag: maybe(random.pick(SCALARS)),
      owner: maybe({ id: random.pick(SCALARS) }),
      labels: maybe(random.shuffle(SCALARS).slice(0, random.below(5))),
      reviews: maybe([{ userId: random.pick(['u1', 'u2']) }]),
    },
  }));
  await Promise.all(stored.map(({ id, revision, document }) => samples.put(id, revision, document)));
  await Promise.all(Array.from({ length: 20 }, (_, index) => samples.remove(`gone${index}`, 1)));
  return stored;
};

const randomQuery = (random: SeededRandom): Omit<Query, 'limit' | 'after'> => {
  const direction = (): 'asc' | 'desc' => random.pick(['asc', 'desc']);
  const orders: readonly Query['orderBy'][] = [
    undefined,
    [{ field: 'title', direction: direction() }],
    [{ field: 'rank', direction: direction() }],
    [
      { field: 'title', direction: direction() },
      { field: 'rank', direction: direction() },
    ],
    [
      { field: 'flag', direction: direction() },
      { field: 'rank', direction: direction() },
      { field: 'owner.id', direction: direction() },
    ],
  ];
  const orderBy = random.pick(orders);
  const wheres: readonly Query['where'][] = [
    undefined,
    { title: condition(random) },
    { spaceId: `s${random.below(4)}` },
    { spaceId: `s${random.below(3)}`, rank: condition(random) },
    { 'owner.id': condition(random), flag: condition(random) },
    { labels: { contains: random.pick(SCALARS) } },
    { labels: { contains: random.pick(SCALARS) }, flag: condition(random), 'reviews.userId': { contains: 'u1' } },
  ];
  const where = random.pick(wheres);
  // A condition of inequality alone is served by no index, unless the order is.
  const served = where === undefined || orderBy !== undefined || Object.values(where).some((one) => !isInequality(one));
  return { ...(served && where !== undefined ? { where } : {}), ...(orderBy !== undefined ? { orderBy } : {}) };
};

const isInequality = (one: Condition): boolean => typeof one === 'object' && one !== null && 'ne' in one;

const condition = (random: SeededRandom): Condition => {
  const value = random.pick(SCALARS);
  const other = random.pick(SCALARS);
  return random.pick<Condition>([
    value,
    { in: random.shuffle(SCALARS).slice(0, random.below(9)) },
    { ne: value },
    { gt: value },
    { gte: value },
    { lt: value },
    { lte: value },
    { gt: value, lte: other },
    { gte: value, lt: other },
  ]);
};

const pages = async (
  samples: Collection<Sample>,
  query: Omit<Query, 'limit' | 'after'>,
  limit: number,
): Promise<readonly string[]> => {
  const ids: string[] = [];
  let after: readonly Scalar[] | undefined;
  for (;;) {
    const page = await samples.query({ ...query, limit, ...(after === undefined ? {} : { after }) });
    ids.push(...page.map(({ id }) => id));
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return ids;
    after = keysetOf(last, query);
  }
};
