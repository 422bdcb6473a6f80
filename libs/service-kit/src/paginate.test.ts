import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Collection, ReadStore } from '@bindery/read-store';
import { openSqliteReadStore } from '@bindery/read-store/sqlite';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createCursorCodec } from './cursors.ts';
import { paginate } from './paginate.ts';

interface Thing {
  readonly group: string;
  readonly title: string | null;
}

const folder = mkdtempSync(join(tmpdir(), 'paginate-'));
const cursors = createCursorCodec('a secret that is long enough');
const query = { where: { group: 'a' }, orderBy: [{ field: 'title', direction: 'desc' as const }] };
let store: ReadStore;
let things: Collection<Thing>;

beforeAll(async () => {
  store = await openSqliteReadStore({ path: join(folder, 'read.db') });
  things = await store.collection<Thing>({
    name: 'test.things',
    version: 1,
    indexes: [{ name: 'title', fields: ['group', 'title'] }],
  });
  for (let index = 0; index < 25; index += 1) {
    // Equal titles and missing ones, so that the order needs its tie-breaker.
    const title = index % 5 === 0 ? null : `t${index % 3}`;
    await things.put(`id${index}`, 0, { group: index % 5 === 4 ? 'b' : 'a', title });
  }
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const walk = async (limit: number): Promise<{ ids: string[]; pages: number }> => {
  const ids: string[] = [];
  for (let pages = 1, page: string | undefined; ; pages += 1) {
    const found = await paginate(things, 'list', query, { limit, ...(page !== undefined && { page }) }, cursors);
    expect(found.count).toBe(20);
    ids.push(...found.items.map(({ id }) => id));
    page = found.next?.page;
    if (page === undefined) return { ids, pages };
  }
};

test('pages of any size join to the same list, and the last has no next', async () => {
  const whole = await walk(1000);
  expect([whole.ids.length, new Set(whole.ids).size, whole.pages]).toEqual([20, 20, 1]);
  expect(await walk(3)).toEqual({ ids: whole.ids, pages: 7 });
  expect(await walk(20)).toEqual({ ids: whole.ids, pages: 1 });
  expect(await walk(1)).toEqual({ ids: whole.ids, pages: 20 });
});

test('limit 0 counts', async () => {
  expect(await paginate(things, 'list', query, { limit: 0 }, cursors)).toEqual({ items: [], count: 20 });
});

test('a cursor of another list is refused', async () => {
  const { next } = await paginate(things, 'other', query, { limit: 1 }, cursors);
  await expect(paginate(things, 'list', query, { limit: 1, page: next?.page ?? '' }, cursors)).rejects.toThrow(
    'query.page: is not a cursor of this list',
  );
});
