import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import type { Collection, IndexSpec, ReadStore } from '../../port.ts';
import { openMongoReadStore } from '../mongodb.ts';
import { NOTICED_WITHIN_MS } from './live-layout.ts';

const url = process.env.MONGODB_URL ?? '';
const withServer = url === '' ? describe.skip : describe;

interface Thing {
  readonly a: string;
  readonly b: string;
}
const specOf = (...indexes: readonly IndexSpec[]) => ({ name: 'testing.layouts', version: 1, indexes });
const byA: IndexSpec = { name: 'x', fields: ['a'] };
const byB: IndexSpec = { name: 'x', fields: ['b'] };
const byBElsewhere: IndexSpec = { name: 'y', fields: ['b'] };
const onlyB: IndexSpec = { name: 'only', fields: ['b'], unique: true };

withServer(url === '' ? 'SKIPPED: releases side by side (MONGODB_URL is not set)' : 'releases side by side', () => {
  let database: string;
  let stores: ReadStore[];
  beforeEach(() => {
    database = `bindery_test_${randomUUID().replaceAll('-', '')}`;
    stores = [];
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
    const client = new MongoClient(url);
    await client.db(database).dropDatabase();
    await client.close();
  });
  const open = async (indexes: readonly IndexSpec[], indexGraceMs = 0): Promise<Collection<Thing>> => {
    const store = await openMongoReadStore({ url, database, timeoutMs: 20_000, indexGraceMs });
    stores.push(store);
    return store.collection<Thing>(specOf(...indexes));
  };
  const idsBy = async (collection: Collection<Thing>, where: Partial<Thing>): Promise<readonly string[]> =>
    (await collection.query({ where, limit: 10 })).map(({ id }) => id);
  const indexNames = async (): Promise<readonly string[]> => {
    const client = new MongoClient(url);
    try {
      const indexes = await client.db(database).collection('testing.layouts.v1').indexes();
      return indexes.map(({ name }) => name ?? '').toSorted();
    } finally {
      await client.close();
    }
  };

  test.each([
    ['without documents', false],
    ['with documents', true],
  ])('an index that means something else now, %s: both releases find theirs', async (_, filled) => {
    const old = await open([byA]);
    if (filled) await old.put('1', 1, { a: 'one', b: 'b' });
    const next = await open([byB]);
    await next.put('2', 1, { a: 'two', b: 'b' });
    expect(await idsBy(next, { b: 'b' })).toEqual(filled ? ['1', '2'] : ['2']);
    expect(await idsBy(old, { a: 'two' })).toEqual(['2']);
    // The old release starts once more: nothing is changed back.
    const before = await indexNames();
    expect(await idsBy(await open([byA]), { a: 'two' })).toEqual(['2']);
    expect(await indexNames()).toEqual(before);
  });

  test('an index under another name is the same index', async () => {
    await (await open([byB])).put('1', 1, { a: 'a', b: 'b' });
    const before = await indexNames();
    expect(await idsBy(await open([byBElsewhere]), { b: 'b' })).toEqual(['1']);
    expect(await indexNames()).toEqual(before);
  });

  test('a unique index that is not unique any more refuses nothing; one that became unique refuses', async () => {
    const plain: IndexSpec = { name: 'only', fields: ['b'] };
    await (await open([onlyB])).put('1', 1, { a: 'a', b: 'b' });
    const free = await open([plain]);
    expect(await free.put('2', 1, { a: 'a', b: 'b' })).toBe(true);
    expect(await free.remove('2', 2)).toBe(true);
    const again = await open([onlyB]);
    await expect(again.put('3', 1, { a: 'a', b: 'b' })).rejects.toMatchObject({ index: 'only' });
  });

  test('several processes of three releases open a new collection at once: all indexes are there, all find all', async () => {
    const releases = [[byA], [byA, byBElsewhere], [byA, onlyB], [byA], [byA, byBElsewhere]];
    const opened = await Promise.all(releases.map((indexes) => open(indexes)));
    await Promise.all(opened.map((one, n) => one.put(`${n}`, 1, { a: 'a', b: `b${n}` })));
    const ids = opened.map((_, n) => `${n}`);
    for (const one of opened) expect((await idsBy(one, { a: 'a' })).toSorted()).toEqual(ids);
    const last = await open([byA, byBElsewhere, onlyB]);
    for (const n of ids) expect(await idsBy(last, { b: `b${n}` })).toEqual([n]);
    await expect(last.put('x', 1, { a: 'a', b: 'b0' })).rejects.toMatchObject({ index: 'only' });
  });

  test('what an older release goes on to write is found by an index that was added since, and obeys it', async () => {
    const old = await open([byA]);
    await old.put('1', 1, { a: 'a', b: 'b1' });
    let added = false;
    const adding = open([byA, onlyB], 2 * NOTICED_WITHIN_MS).then((next) => {
      added = true;
      return next;
    });
    let writes = 1;
    while (!added) {
      writes++;
      await old.put(`${writes}`, 1, { a: 'a', b: `b${writes}` });
    }
    const next = await adding;
    expect(writes).toBeGreaterThan(10);
    expect(await next.count({ b: `b${writes}` })).toBe(1);
    const found = await Promise.all(Array.from({ length: writes }, (_, n) => next.count({ b: `b${n + 1}` })));
    expect(found.filter((count) => count !== 1)).toEqual([]);
    expect(await old.put('late', 1, { a: 'a', b: 'late' })).toBe(true);
    expect(await idsBy(next, { b: 'late' })).toEqual(['late']);
    await expect(old.put('taken', 1, { a: 'a', b: 'b1' })).rejects.toMatchObject({ index: 'only' });
    await old.remove('1', 2);
    await old.remove('2', 2);
    expect(await old.put('free', 1, { a: 'a', b: 'b1' })).toBe(true);
  }, 60_000);
});
