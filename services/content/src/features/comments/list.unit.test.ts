import type { Query } from '@bindery/read-store';
import { createCursorCodec } from '@bindery/service-kit';
import { describe, expect, test } from '@jest/globals';
import { pageOfBodies } from './list.ts';

const cursors = createCursorCodec('a secret for tests only');

/** A collection of bodies of these sizes, numbered from 1. */
const collectionOf = (sizes: readonly number[]) => {
  const asked: number[] = [];
  const documents = sizes.map((size, index) => ({
    id: `id${index + 1}`,
    revision: 0,
    document: { number: index + 1, body: { json: 'x'.repeat(size) }, reactions: [] },
  }));
  return {
    asked,
    count: async () => documents.length,
    query: async ({ after, limit }: Query) => {
      asked.push(limit);
      const start = after === undefined ? 0 : Number(after[0]);
      return documents.slice(start, start + limit);
    },
  };
};
const pageOf = (collection: ReturnType<typeof collectionOf>, limit: number, page?: string) =>
  pageOfBodies(
    collection,
    { where: {}, field: 'number', direction: 'asc' },
    { list: 'l', limit, ...(page === undefined ? {} : { page }) },
    cursors,
  );
/** Sizes of all pages, and the numbers in them. */
const walk = async (sizes: readonly number[], limit: number) => {
  const collection = collectionOf(sizes);
  const pages: number[][] = [];
  let page: string | undefined;
  do {
    const found = await pageOf(collection, limit, page);
    pages.push(found.items.map(({ document }) => document.number));
    page = found.next?.page;
  } while (page !== undefined);
  expect(pages.flat()).toEqual(sizes.map((_, index) => index + 1));
  return { pages: pages.map(({ length }) => length), asked: collection.asked };
};

describe('a page of bodies', () => {
  test('holds as many as were asked for, read in pieces', async () => {
    const light = Array.from({ length: 250 }, () => 10);
    expect(await walk(light, 1000)).toEqual({ pages: [250], asked: [101, 101, 101] });
    expect((await walk(light, 100)).pages).toEqual([100, 100, 50]);
    expect((await walk(light, 125)).pages).toEqual([125, 125]);
    expect((await walk(light.slice(0, 100), 100)).pages).toEqual([100]);
    expect((await walk([], 10)).pages).toEqual([0]);
  });

  test('ends early when it is heavy', async () => {
    const heavy = Array.from({ length: 130 }, () => 100_000);
    expect((await walk(heavy, 1000)).pages).toEqual([40, 40, 40, 10]);
    expect((await walk(heavy.slice(0, 80), 1000)).pages).toEqual([40, 40]);
    expect((await walk([...heavy.slice(0, 39), 5_000_000], 1000)).pages).toEqual([40]);
  });

  test('of nothing answers the count', async () => {
    expect(await pageOf(collectionOf([1, 2, 3]), 0)).toEqual({ items: [], count: 3 });
  });

  test('refuses the cursor of another list', async () => {
    await expect(pageOf(collectionOf([1]), 1, cursors.encode('other', [1, 'id1']))).rejects.toMatchObject({
      code: 'cursor.invalid',
    });
  });
});
