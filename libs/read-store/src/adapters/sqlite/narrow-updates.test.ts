import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Collection, CollectionSpec, ReadStore } from '../../port.ts';
import { openSqliteReadStore } from '../sqlite.ts';
import { NarrowUpdates } from './narrow-updates.ts';

interface Item {
  readonly place: string | null;
  readonly open: boolean;
  readonly tags: readonly string[];
  readonly text: string;
}

const spec: CollectionSpec = {
  name: 'items',
  version: 1,
  indexes: [
    { name: 'place', fields: ['place'] },
    { name: 'open', fields: ['open', 'place'] },
    { name: 'tags', fields: ['tags'], multi: true },
  ],
};
const item = (given: Partial<Item> = {}): Item => ({ place: 'here', open: true, tags: ['a'], text: 'one', ...given });

describe('updates that name only what differs', () => {
  let folder: string;
  let stores: ReadStore[];
  let mine: Collection<Item>;
  let theirs: Collection<Item>;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bindery-narrow-'));
    const path = join(folder, 'read.db');
    stores = [await openSqliteReadStore({ path }), await openSqliteReadStore({ path })];
    const [first, second] = await Promise.all(stores.map((store) => store.collection<Item>(spec)));
    if (first === undefined || second === undefined) throw new Error('two stores are opened');
    [mine, theirs] = [first, second];
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    rmSync(folder, { recursive: true });
  });

  const found = async (where: Record<string, string | boolean | null>): Promise<string[]> =>
    (await mine.query({ where, limit: 10 })).map(({ document }) => document.text);
  const tagged = async (tag: string): Promise<string[]> =>
    (await mine.query({ where: { tags: { contains: tag } }, limit: 10 })).map(({ document }) => document.text);

  test('a field without an index, one with, null and back, elements: every query finds what is stored', async () => {
    expect(await mine.put('i1', 0, item())).toBe(true);
    expect(await mine.put('i1', 1, item({ text: 'two' }))).toBe(true);
    expect(await found({ place: 'here' })).toEqual(['two']);
    expect(await mine.put('i1', 2, item({ text: 'three', place: null, tags: ['b'] }))).toBe(true);
    expect([await found({ place: 'here' }), await found({ place: null })]).toEqual([[], ['three']]);
    expect([await tagged('a'), await tagged('b')]).toEqual([[], ['three']]);
    expect(await mine.put('i1', 3, item({ text: 'four', open: false }))).toBe(true);
    expect([await found({ open: true }), await found({ open: false, place: 'here' })]).toEqual([[], ['four']]);
  });

  test('the guard holds: nothing that is older or as old, and nothing after a removal that is newer', async () => {
    await mine.put('i1', 5, item());
    expect(await mine.put('i1', 5, item({ text: 'same' }))).toBe(false);
    expect(await mine.put('i1', 4, item({ text: 'older' }))).toBe(false);
    expect(await mine.remove('i1', 7)).toBe(true);
    expect(await mine.put('i1', 6, item({ text: 'too late' }))).toBe(false);
    expect(await mine.get('i1')).toBeUndefined();
    expect(await mine.put('i1', 8, item({ text: 'anew' }))).toBe(true);
    expect(await found({ place: 'here' })).toEqual(['anew']);
  });

  test('elements of what is new, of what somebody else put, of what was removed and of what was purged are those that are stored', async () => {
    await theirs.put('i1', 0, item({ tags: ['a', 'b'] }));
    expect(await mine.put('i1', 1, item({ tags: ['b', 'c'], text: 'two' }))).toBe(true);
    expect([await tagged('a'), await tagged('b'), await tagged('c')]).toEqual([[], ['two'], ['two']]);
    await theirs.remove('i1', 2);
    expect([await mine.put('i1', 2, item()), await tagged('b')]).toEqual([false, []]);
    expect(await theirs.put('i1', 3, item({ tags: ['d'], text: 'three' }))).toBe(true);
    await theirs.purge({ place: 'here' }, 10);
    expect(await mine.put('i1', 0, item({ tags: ['e'], text: 'four' }))).toBe(true);
    expect([await tagged('d'), await tagged('e')]).toEqual([[], ['four']]);
  });

  test('what another connection wrote meanwhile is not taken for what was written here', async () => {
    await mine.put('i1', 0, item());
    await theirs.put('i1', 1, item({ place: 'there', open: false, text: 'theirs' }));
    expect(await mine.put('i1', 2, item({ text: 'mine' }))).toBe(true);
    expect([await found({ place: 'here', open: true }), await found({ place: 'there' })]).toEqual([['mine'], []]);
    await theirs.purge({ place: 'here' }, 10);
    expect(await mine.put('i1', 3, item({ text: 'again' }))).toBe(true);
    expect([await found({ place: 'here' }), await tagged('a')]).toEqual([['again'], ['again']]);
  });

  test('where a newer release has laid the table out with one more index no document changes behind its back', async () => {
    const { indexes } = spec;
    await mine.put('i1', 0, item({ text: 'one' }));
    const [, store] = stores;
    const newer = { ...spec, indexes: [...indexes, { name: 'text', fields: ['text'] }] };
    const laidOut = await store?.collection<Item>(newer);
    await expect(mine.put('i1', 1, item({ text: 'two' }))).rejects.toThrow();
    await expect(mine.put('i2', 1, item({ text: 'two' }))).rejects.toThrow();
    expect((await laidOut?.query({ where: { text: 'one' }, limit: 5 }))?.map(({ revision }) => revision)).toEqual([0]);
  });
});

test('an update names the columns that change, none where none does, and is none where all do or nothing is known', () => {
  const updates = new NarrowUpdates({
    table: 't',
    columns: new Map([
      ['a', 'a'],
      ['b', 'b'],
    ]),
  });
  expect(updates.of(['x', 1, '{}', 1, 2])).toBeUndefined();
  updates.remember(['x', 1, '{}', 1, 2]);
  expect(updates.of(['x', 2, '{}', 3, 4])).toBeUndefined();
  const same = updates.of(['x', 2, '{}', 1, 2]);
  expect(same?.sql).toMatch(/SET revision=\?,document=\?\s+WHERE .* AND a IS \? AND b IS \? AND NOT EXISTS/s);
  expect(same?.parameters).toEqual([2, '{}', 'x', 2, 1, 2]);
  const one = updates.of(['x', 2, '{}', 1, 9]);
  expect(one?.sql).toMatch(/SET revision=\?,document=\?,b=\?\s+WHERE .* AND a IS \? AND NOT EXISTS/s);
  expect(one?.parameters).toEqual([2, '{}', 9, 'x', 2, 1]);
});
