import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ShardedMap } from '../../shared/sharded-map.ts';
import type { RevisionChange } from './model.ts';
import { splitRevision } from './split-revision.ts';
import { uniqueSlug } from './unique-slug.ts';
import { WeightedLru } from './weighted-lru.ts';

describe('a sharded map', () => {
  test('is what a map is, and its older versions stay', () => {
    const key = fc.string({ maxLength: 3 });
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.option(fc.nat(5), { nil: undefined }))), (steps) => {
        const model = new Map<string, number>();
        let map = ShardedMap.empty<number>();
        for (const [name, value] of steps) {
          const before = map;
          const size = before.size;
          const draft = map.edit();
          if (value === undefined) draft.delete(name);
          else draft.set(name, value);
          map = draft.done();
          expect(before.size).toBe(size);
          if (value === undefined) model.delete(name);
          else model.set(name, value);
        }
        expect(map.size).toBe(model.size);
        for (const [name, value] of model) expect(map.get(name)).toBe(value);
        expect(new Set(map.keys())).toEqual(new Set(model.keys()));
      }),
    );
  });

  test('tells where two versions differ', () => {
    const one = ShardedMap.empty<number>().with('a', 1).with('b', 2).with('c', 3);
    const draft = one.edit();
    draft.set('b', 20);
    draft.delete('c');
    draft.set('d', 4);
    expect([...one.differing(draft.done())].sort()).toEqual(['b', 'c', 'd']);
    expect([...one.differing(one)]).toEqual([]);
  });
});

describe('cutting a revision', () => {
  const change = (pageId: string): RevisionChange => ({ kind: 'page_deleted', pageId });
  const document = (id: string, length: number) => ({
    id,
    document: { object: 'document' as const, data: { text: 'x'.repeat(length) }, nodes: [] },
  });

  test('keeps a small one whole, and an empty one', () => {
    expect(splitRevision({ changes: [], documents: [] })).toEqual([{ changes: [], documents: [] }]);
    const small = { changes: [change('a')], documents: [document('d', 10)] };
    expect(splitRevision(small)).toEqual([small]);
  });

  test('gives pieces of at most 500 changes and 700,000 characters, in order, with nothing lost', () => {
    const changes = Array.from({ length: 1201 }, (_, index) => change(`p${index}`));
    const documents = Array.from({ length: 5 }, (_, index) => document(`d${index}`, 300_000));
    const parts = splitRevision({ changes, documents });
    expect(parts.flatMap((part) => part.changes)).toEqual(changes);
    expect(parts.flatMap((part) => part.documents)).toEqual(documents);
    for (const part of parts) {
      expect(part.changes.length).toBeLessThanOrEqual(500);
      expect(JSON.stringify(part).length).toBeLessThan(720_000);
    }
  });

  test('leaves a body that is larger by itself alone in its piece', () => {
    const parts = splitRevision({ changes: [change('a')], documents: [document('d', 10), document('e', 900_000)] });
    expect(parts.map((part) => part.documents.map(({ id }) => id))).toEqual([['d'], ['e'], []]);
  });
});

test('slugs are made unique within their limit', () => {
  const taken = (slugs: readonly string[]) => (slug: string) => slugs.includes(slug);
  expect(uniqueSlug('a', taken([]))).toBe('a');
  expect(uniqueSlug('a', taken(['a', 'a-1']))).toBe('a-2');
  const long = 'x'.repeat(100);
  expect(uniqueSlug(long, taken([long]))).toBe(`${'x'.repeat(98)}-1`);
});

test('a weighted cache forgets what was used longest ago, and never keeps more than its weight', () => {
  const cache = new WeightedLru<string>(10);
  cache.set('a', 'A', 4);
  cache.set('b', 'B', 4);
  expect(cache.get('a')).toBe('A');
  cache.set('c', 'C', 4);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual(['A', undefined, 'C']);
  cache.set('c', 'C2', 6);
  expect([cache.get('a'), cache.get('c')]).toEqual(['A', 'C2']);
  cache.set('huge', 'H', 11);
  expect([cache.get('huge'), cache.get('a')]).toEqual([undefined, 'A']);
});
