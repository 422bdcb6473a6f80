import type { Collection, ReadStore } from '@bindery/read-store';
import { expect, test } from '@jest/globals';
import { collect, type ReadStoreHarness, type Sample, sampleSpec, withStore } from './harness.ts';

const checkpoints = { name: 'testing.checkpoints', version: 1, indexes: [] } as const;

/** A run of events as a projection applies it: documents, removals, then the checkpoint. */
const runOf = (
  samples: Collection<Sample>,
  progress: Collection<{ position: number }>,
  from: number,
  to: number,
): Parameters<ReadStore['batch']>[0] => {
  const positions = Array.from({ length: to - from }, (_, index) => from + index);
  return [
    ...positions.map((position) => ({
      collection: samples as Collection<unknown>,
      write:
        position % 7 === 6
          ? ({ kind: 'remove', id: `d${position % 10}`, revision: position } as const)
          : ({
              kind: 'put',
              id: `d${position % 10}`,
              revision: position,
              document: { rank: position, labels: [`p${position}`] },
            } as const),
    })),
    {
      collection: progress as Collection<unknown>,
      write: { kind: 'put', id: 'runner', revision: to, document: { position: to } } as const,
    },
  ];
};

/** Batches of several collections. */
export const batches = (harness: ReadStoreHarness): void => {
  test('twice, in overlap and late: the result is that of applying once in order', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      const progress = await store.collection<{ position: number }>(checkpoints);
      await store.batch(runOf(samples, progress, 0, 60));
      await store.batch(runOf(samples, progress, 60, 103));
      const once = await collect(samples.scan());
      await Promise.all([
        store.batch(runOf(samples, progress, 60, 103)),
        store.batch(runOf(samples, progress, 40, 80)),
        store.batch(runOf(samples, progress, 0, 60)),
      ]);
      expect(await collect(samples.scan())).toEqual(once);
      expect(await progress.get('runner')).toEqual({ id: 'runner', revision: 103, document: { position: 103 } });
      for (const { document } of once)
        expect(await samples.count({ labels: { contains: `p${document.rank}` } })).toBe(1);
    }));

  test('a write that is refused is reported, and the checkpoint after it does not move', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      const progress = await store.collection<{ position: number }>(checkpoints);
      await samples.put('taken', 1, { spaceId: 's', slug: 'same' });
      const collision = {
        collection: samples as Collection<unknown>,
        write: { kind: 'put', id: 'other', revision: 1, document: { spaceId: 's', slug: 'same' } } as const,
      };
      const alongside = samples.put('alongside', 1, { rank: 1 });
      await expect(store.batch([collision, ...runOf(samples, progress, 0, 5)])).rejects.toMatchObject({
        code: 'read_store.unique_violation',
        index: 'slug',
      });
      expect(await progress.get('runner')).toBeUndefined();
      expect(await alongside).toBe(true);
      expect(await samples.get('alongside')).toBeDefined();
    }));

  test('nothing is an empty batch, and a collection of another store is refused', () =>
    withStore(harness, (store) =>
      withStore(harness, async (other) => {
        await store.batch([]);
        const foreign = await other.collection<unknown>(sampleSpec);
        const write = { kind: 'put', id: 'a', revision: 1, document: {} } as const;
        await expect(store.batch([{ collection: foreign, write }])).rejects.toThrow(TypeError);
      }),
    ));
};
