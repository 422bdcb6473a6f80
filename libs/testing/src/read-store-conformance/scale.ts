import { expect, test } from '@jest/globals';
import { type ReadStoreHarness, type Sample, sampleSpec, withStore } from './harness.ts';

/** Many documents: counts and pages stay exact. */
export const scale = (harness: ReadStoreHarness): void => {
  const total = harness.manyDocuments ?? 100_000;

  test(
    `${total} documents: counted, paged and found`,
    () =>
      withStore(harness, async (store) => {
        const spec = {
          name: 'testing.many',
          version: 1,
          indexes: [sampleSpec.indexes[0] ?? { name: 'by_space', fields: ['spaceId'] }],
        };
        const many = await store.collection<Sample>(spec);
        for (let start = 0; start < total; start += 5000)
          await Promise.all(
            Array.from({ length: Math.min(5000, total - start) }, (_, index) =>
              many.put(`d${start + index}`, 1, {
                spaceId: `s${(start + index) % 100}`,
                createdAt: start + index,
                text: 'some text of a document',
              }),
            ),
          );
        expect(await many.count()).toBe(total);
        expect(await many.count({ spaceId: 's42' })).toBe(total / 100);
        const query = { where: { spaceId: 's42' }, orderBy: [{ field: 'createdAt', direction: 'desc' }] } as const;
        const first = await many.query({ ...query, limit: 51 });
        expect(first.map(({ document }) => document.createdAt)).toEqual(
          Array.from({ length: 51 }, (_, index) => total - 58 - index * 100),
        );
        const last = first.at(-1);
        const second = await many.query({
          ...query,
          after: [Number(last?.document.createdAt), last?.id ?? ''],
          limit: 1,
        });
        expect(second[0]?.document.createdAt).toBe(total - 58 - 5100);
      }),
    120_000,
  );
};
