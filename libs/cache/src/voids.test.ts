import { expect, test } from '@jest/globals';
import { Voids } from './voids.ts';

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
};

const setup = (options: Partial<ConstructorParameters<typeof Voids>[0]> = {}) => {
  const told: string[] = [];
  const state = { away: false };
  const voids = new Voids({ staleMs: 60_000, retryMs: 5, ...options });
  const put = (key: string, what = key): Promise<boolean> =>
    voids.put(key, async () => {
      if (state.away) throw new Error('away');
      told.push(what);
    });
  return { told, state, voids, put };
};

test('the cache is told at once when it is there', async () => {
  const { told, voids, put } = setup();
  expect(await put('a')).toBe(true);
  expect([told, voids.owes('a')]).toEqual([['a'], false]);
});

test('else as soon as it is back, each key once, by its last word; until then it is owed', async () => {
  const { told, state, voids, put } = setup();
  state.away = true;
  expect([await put('a', 'a1'), await put('b'), await put('a', 'a2')]).toEqual([false, false, false]);
  expect([voids.owes('a'), voids.owes('b'), voids.owes('c')]).toEqual([true, true, false]);
  state.away = false;
  await until(() => !voids.owes('a') && !voids.owes('b'));
  expect(told.toSorted()).toEqual(['a2', 'b']);
});

test('a later change that gets through settles what was owed', async () => {
  const { told, state, voids, put } = setup({ retryMs: 60_000 });
  state.away = true;
  await put('a', 'old');
  state.away = false;
  expect(await put('a', 'new')).toBe(true);
  expect([told, voids.owes('a')]).toEqual([['new'], false]);
});

test('what is owed is bounded in number and in time', async () => {
  const { told, state, voids, put } = setup({ maxOwed: 2, staleMs: 30 });
  state.away = true;
  for (const key of ['a', 'b', 'c']) await put(key);
  expect(['a', 'b', 'c'].map((key) => voids.owes(key))).toEqual([false, true, true]);
  await until(() => !voids.owes('b') && !voids.owes('c'));
  expect(told).toEqual([]);
});
