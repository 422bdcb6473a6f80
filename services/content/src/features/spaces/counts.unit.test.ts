import { createMemoryCache } from '@bindery/cache/memory';
import { describe, expect, test } from '@jest/globals';
import { createChangeRequestCounts, type SpaceCounts } from './counts.ts';

const none: SpaceCounts = { open: 0, draft: 0, comments: 0, synced: false, imported: false };

const setup = () => {
  const truth = new Map<string, SpaceCounts>();
  let asked = 0;
  let gate: Promise<void> = Promise.resolve();
  const counts = createChangeRequestCounts({
    cache: createMemoryCache(),
    count: async (spaceId) => {
      asked += 1;
      const found = truth.get(spaceId) ?? { ...none };
      await gate;
      return found;
    },
  });
  return {
    counts,
    truth,
    asked: () => asked,
    holdUp: (until: Promise<void>) => {
      gate = until;
    },
  };
};

describe('counts of change requests', () => {
  test('are counted once, and again after a change', async () => {
    const { counts, truth, asked } = setup();
    truth.set('s1', { ...none, open: 1, draft: 2, comments: 0 });
    expect(await counts.of('s1')).toEqual({ ...none, open: 1, draft: 2, comments: 0 });
    expect(await counts.of('s1')).toEqual({ ...none, open: 1, draft: 2, comments: 0 });
    expect(asked()).toBe(1);
    truth.set('s1', { ...none, open: 2, draft: 1, comments: 0 });
    await counts.changed('s1');
    expect(await counts.of('s1')).toEqual({ ...none, open: 2, draft: 1, comments: 0 });
    expect(asked()).toBe(2);
  });

  test('several at once, the known and the unknown', async () => {
    const { counts, truth, asked } = setup();
    truth.set('s1', { ...none, open: 1, draft: 0, comments: 0 }).set('s2', { ...none, open: 2 });
    await counts.of('s1');
    expect((await counts.ofMany(['s1', 's2', 's3'])).map(({ open }) => open)).toEqual([1, 2, 0]);
    await counts.ofMany(['s1', 's2', 's3']);
    expect(asked()).toBe(3);
  });

  test('a count that began before a change does not survive it', async () => {
    const { counts, truth, holdUp } = setup();
    const { promise, resolve } = Promise.withResolvers<void>();
    holdUp(promise);
    truth.set('s1', { ...none, open: 1, draft: 0, comments: 0 });
    const slow = counts.of('s1');
    // The slow one has read its figures; it stores them only after the change was announced.
    await new Promise(setImmediate);
    truth.set('s1', { ...none, open: 5, draft: 0, comments: 0 });
    await counts.changed('s1');
    resolve();
    await slow;
    expect(await counts.of('s1')).toEqual({ ...none, open: 5, draft: 0, comments: 0 });
  });
});

test('without the cache counts are right, changes do not fail, and others learn of them when it is back', async () => {
  const direct = createMemoryCache();
  let away = false;
  const guard =
    <A extends readonly unknown[], R>(method: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (away) throw new Error('away');
      return method(...args);
    };
  const cache = {
    ...direct,
    get: <T>(key: string) => guard((of: string) => direct.get<T>(of))(key),
    getMany: <T>(keys: readonly string[]) => guard((of: readonly string[]) => direct.getMany<T>(of))(keys),
    set: guard(direct.set),
  };
  let open = 1;
  const count = async (): Promise<SpaceCounts> => ({ ...none, open });
  const mine = createChangeRequestCounts({ cache, count });
  const others = createChangeRequestCounts({ cache: direct, count });
  expect((await others.of('s')).open).toBe(1);
  away = true;
  open = 2;
  await mine.changed('s');
  expect([(await mine.of('s')).open, (await mine.ofMany(['s'])).map((counts) => counts.open)]).toEqual([2, [2]]);
  expect((await others.of('s')).open).toBe(1);
  away = false;
  expect((await mine.of('s')).open).toBe(2);
  while ((await others.of('s')).open !== 2) await new Promise((resolve) => setTimeout(resolve, 5));
});
