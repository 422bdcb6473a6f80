import { expect, test } from '@jest/globals';
import { seededRandom } from '../seeded-random.ts';
import { collect, type ReadStoreHarness, type Sample, sampleSpec, withStore } from './harness.ts';

/** Revision guards, tombstones, unique indexes, optimistic writes. */
export const guardedWrites = (harness: ReadStoreHarness): void => {
  const atOnce = (name: string, work: () => Promise<void>): void =>
    harness.notAtomic === undefined ? test(name, work) : test.skip(`SKIPPED (${harness.notAtomic}): ${name}`, work);

  test('a write with a revision that is not above the stored one changes nothing', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      expect(await samples.put('a', 3, { title: 'three' })).toBe(true);
      expect(await samples.put('a', 3, { title: 'again' })).toBe(false);
      expect(await samples.put('a', 2, { title: 'late' })).toBe(false);
      expect(await samples.get('a')).toEqual({ id: 'a', revision: 3, document: { title: 'three' } });
      expect(await samples.put('a', 4, { title: 'four' })).toBe(true);
      expect((await samples.get('a'))?.document).toEqual({ title: 'four' });
      expect((await samples.query({ where: { title: 'three' }, limit: 10 })).length).toBe(0);
    }));

  atOnce('in any order and all at once, the highest revision of each document stays', () =>
    withStore(harness, async (store, place) => {
      const other = await place.open();
      const [mine, theirs] = [await store.collection<Sample>(sampleSpec), await other.collection<Sample>(sampleSpec)];
      const random = seededRandom(7);
      const writes = Array.from({ length: 600 }, (_, index) => ({
        id: `d${index % 20}`,
        revision: Math.floor(index / 20),
      }));
      await Promise.all(
        random.shuffle(writes).map(({ id, revision }) => {
          const collection = random.below(2) === 0 ? mine : theirs;
          return revision % 5 === 4 && revision !== 29
            ? collection.remove(id, revision)
            : collection.put(id, revision, { spaceId: 's', slug: `${id}-${revision}`, labels: [`r${revision}`] });
        }),
      );
      for (const id of Array.from({ length: 20 }, (_, index) => `d${index}`))
        expect(await mine.get(id)).toEqual({
          id,
          revision: 29,
          document: { spaceId: 's', slug: `${id}-29`, labels: ['r29'] },
        });
      expect(await mine.count({ labels: { contains: 'r29' } })).toBe(20);
      expect(await mine.count({ labels: { contains: 'r28' } })).toBe(0);
      await other.close();
    }),
  );

  test('a tombstone keeps older writes out, and its document out of every answer', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      await samples.put('a', 1, { title: 'x', slug: 'a', spaceId: 's', labels: ['l'] });
      expect(await samples.remove('a', 5)).toBe(true);
      expect(await samples.remove('a', 5)).toBe(false);
      expect(await samples.put('a', 4, { title: 'late' })).toBe(false);
      expect(await samples.remove('never-there', 2)).toBe(true);
      expect(await samples.put('never-there', 1, { title: 'late' })).toBe(false);
      // The highest revision that there is removes for good.
      expect(await samples.remove('for-good', Number.MAX_SAFE_INTEGER)).toBe(true);
      expect(await samples.put('for-good', 2 ** 40, { title: 'late' })).toBe(false);
      expect(await samples.get('a')).toBeUndefined();
      expect((await samples.getMany(['a', 'never-there'])).size).toBe(0);
      expect(await samples.query({ limit: 10 })).toEqual([]);
      expect(await samples.query({ where: { title: null }, limit: 10 })).toEqual([]);
      expect(await samples.query({ where: { labels: { contains: 'l' } }, limit: 10 })).toEqual([]);
      expect(await samples.query({ orderBy: [{ field: 'title', direction: 'asc' }], limit: 10 })).toEqual([]);
      expect([
        await samples.count(),
        await samples.count({ flag: null }),
        await samples.count({ flag: { in: [null, 1] } }),
      ]).toEqual([0, 0, 0]);
      expect(await collect(samples.scan())).toEqual([]);
      expect(await samples.purge({ flag: null }, 10)).toBe(0);
      // Its unique values are free again, and a newer write brings it back.
      expect(await samples.put('b', 1, { slug: 'a', spaceId: 's' })).toBe(true);
      expect(await samples.put('a', 6, { title: 'back' })).toBe(true);
      expect(await samples.count()).toBe(2);
    }));

  test('a unique index refuses the second document and names itself; nulls are exempt', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      await samples.put('a', 1, { spaceId: 's', slug: 'same' });
      await expect(samples.put('b', 1, { spaceId: 's', slug: 'same' })).rejects.toMatchObject({
        code: 'read_store.unique_violation',
        collection: 'testing.samples',
        index: 'slug',
      });
      expect(await samples.get('b')).toBeUndefined();
      expect(await samples.put('b', 1, { spaceId: 't', slug: 'same' })).toBe(true);
      expect(await samples.put('a', 2, { spaceId: 's', slug: 'same', title: 'own value kept' })).toBe(true);
      await expect(samples.compareAndPut('c', -1, { spaceId: 's', slug: 'same' })).rejects.toMatchObject({
        index: 'slug',
      });
      for (const id of ['n1', 'n2']) expect(await samples.put(id, 1, { spaceId: 's', slug: null })).toBe(true);
      for (const id of ['n3', 'n4']) expect(await samples.put(id, 1, { spaceId: 's' })).toBe(true);
      // A stale write is not an error, even when it would collide.
      expect(await samples.put('b', 1, { spaceId: 's', slug: 'same' })).toBe(false);
    }));

  atOnce('a unique index lets one of 20 at once through', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      const racers = Array.from({ length: 20 }, (_, index) =>
        samples.put(`racer${index}`, 1, { spaceId: 'race', slug: 'one' }),
      );
      const results = await Promise.allSettled(racers);
      expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(1);
    }),
  );

  atOnce('compareAndPut: 20 writers count to 200 without a lost update', () =>
    withStore(harness, async (store, place) => {
      const other = await place.open();
      const collections = [
        await store.collection<{ n: number }>(sampleSpec),
        await other.collection<{ n: number }>(sampleSpec),
      ];
      await Promise.all(
        Array.from({ length: 20 }, async (_, writer) => {
          const counter = collections[writer % 2] ?? collections[0];
          for (let done = 0; done < 10; ) {
            const before = await counter?.get('counter');
            const written = await counter?.compareAndPut('counter', before?.revision ?? -1, {
              n: (before?.document.n ?? 0) + 1,
            });
            if (written === true) done++;
          }
        }),
      );
      expect(await collections[0]?.get('counter')).toEqual({ id: 'counter', revision: 199, document: { n: 200 } });
      await other.close();
    }),
  );

  test('compareAndPut takes exactly the stored revision, tombstones included', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      expect(await samples.compareAndPut('a', 0, {})).toBe(false);
      expect(await samples.compareAndPut('a', -1, { labels: ['x'] })).toBe(true);
      expect(await samples.compareAndPut('a', -1, {})).toBe(false);
      expect(await samples.compareAndPut('a', 0, { labels: ['y'] })).toBe(true);
      expect(await samples.count({ labels: { contains: 'x' } })).toBe(0);
      expect(await samples.count({ labels: { contains: 'y' } })).toBe(1);
      await samples.remove('a', 9);
      expect(await samples.compareAndPut('a', -1, {})).toBe(false);
      expect(await samples.compareAndPut('a', 9, { back: true })).toBe(true);
      expect(await samples.get('a')).toEqual({ id: 'a', revision: 10, document: { back: true } });
    }));

  test('purge removes matching documents outright, at most as many as asked', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      await Promise.all(
        Array.from({ length: 30 }, (_, index) => samples.put(`d${index}`, 7, { rank: index, labels: ['p'] })),
      );
      expect(await samples.purge({ rank: { lt: 20 } }, 15)).toBe(15);
      expect(await samples.purge({ rank: { lt: 20 } }, 15)).toBe(5);
      expect(await samples.count()).toBe(10);
      expect(await samples.count({ labels: { contains: 'p' } })).toBe(10);
      expect(await samples.put('d3', 0, { rank: 3 })).toBe(true);
      expect(await samples.compareAndPut('d4', -1, { rank: 4 })).toBe(true);
    }));
};
