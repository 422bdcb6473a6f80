import type { Scalar } from '@bindery/read-store';
import { expect, test } from '@jest/globals';
import { collect, type ReadStoreHarness, type Sample, sampleSpec, withStore } from './harness.ts';

const byTitle = [{ field: 'title', direction: 'asc' }] as const;

/** Generations, versions, restarts, several handles, closing. */
export const lifecycle = (harness: ReadStoreHarness): void => {
  test('generations and versions are apart; dropping one leaves the others', () =>
    withStore(harness, async (store) => {
      const next = { ...sampleSpec, version: 2 };
      const [live, rebuild, newer] = [
        await store.collection<Sample>(sampleSpec),
        await store.collection<Sample>(sampleSpec, 1),
        await store.collection<Sample>(next),
      ];
      await live.put('a', 1, { title: 'live', labels: ['l'] });
      await rebuild.put('a', 1, { title: 'rebuild', labels: ['l'] });
      await newer.put('a', 1, { title: 'newer', labels: ['l'] });
      const titles = async (): Promise<unknown[]> => [
        (await live.get('a'))?.document.title,
        (await (await store.collection<Sample>(sampleSpec, 1)).get('a'))?.document.title,
        (await newer.get('a'))?.document.title,
      ];
      expect(await titles()).toEqual(['live', 'rebuild', 'newer']);
      await store.drop(sampleSpec, 1);
      await store.drop(sampleSpec, 1);
      expect(await titles()).toEqual(['live', undefined, 'newer']);
      expect(await (await store.collection<Sample>(sampleSpec, 1)).count({ labels: { contains: 'l' } })).toBe(0);
    }));

  test('everything is there after closing and opening again', async () => {
    const place = await harness.createPlace();
    const first = await place.open();
    const before = await first.collection<Sample>(sampleSpec);
    // Closing waits for writes that were begun.
    const writing = Promise.all(
      Array.from({ length: 300 }, (_, index) => before.put(`d${index}`, index, { title: `t${index}` })),
    );
    await first.close();
    expect((await writing).every(Boolean)).toBe(true);
    const second = await place.open();
    const after = await second.collection<Sample>(sampleSpec);
    expect(await after.count()).toBe(300);
    expect(await after.get('d7')).toEqual({ id: 'd7', revision: 7, document: { title: 't7' } });
    expect(await after.put('d7', 6, {})).toBe(false);
    await second.close();
    await place.dispose();
  });

  test('an index that is added later covers the documents that are there', async () => {
    const place = await harness.createPlace();
    const plain = { name: 'testing.growing', version: 1, indexes: [{ name: 'title', fields: ['title'] }] };
    const first = await place.open();
    const before = await first.collection<Sample>(plain);
    await Promise.all(
      Array.from({ length: 1200 }, (_, index) =>
        before.put(`d${index}`, 3, { title: `t${index}`, rank: index, labels: [`l${index % 4}`] }),
      ),
    );
    await before.remove('d0', 4);
    await first.close();
    const grown = {
      ...plain,
      indexes: [
        { name: 'rank', fields: ['rank'], unique: true },
        { name: 'labels', fields: ['labels'], multi: true },
      ],
    };
    const second = await place.open();
    const after = await second.collection<Sample>(grown);
    expect((await after.query({ where: { rank: 700 }, limit: 2 })).map(({ id }) => id)).toEqual(['d700']);
    expect(await after.count({ labels: { contains: 'l1' } })).toBe(300);
    expect(await after.count()).toBe(1199);
    expect(await after.put('d0', 4, {})).toBe(false);
    await expect(after.query({ where: { title: 't1' }, limit: 1 })).rejects.toMatchObject({
      code: 'read_store.missing_index',
    });
    await expect(after.put('x', 1, { rank: 700 })).rejects.toMatchObject({
      code: 'read_store.unique_violation',
      index: 'rank',
    });
    await second.close();
    await place.dispose();
  });

  test('two handles see each other', () =>
    withStore(harness, async (store, place) => {
      const other = await place.open();
      const [mine, theirs] = [await store.collection<Sample>(sampleSpec), await other.collection<Sample>(sampleSpec)];
      await mine.put('a', 1, { title: 'mine' });
      expect((await theirs.get('a'))?.document).toEqual({ title: 'mine' });
      expect(await theirs.put('a', 1, { title: 'late' })).toBe(false);
      expect(await theirs.remove('a', 2)).toBe(true);
      expect(await mine.get('a')).toBeUndefined();
      await other.close();
    }));

  test('pages stay complete and free of repeats while others write', () =>
    withStore(harness, async (store, place) => {
      const other = await place.open();
      const [mine, theirs] = [await store.collection<Sample>(sampleSpec), await other.collection<Sample>(sampleSpec)];
      const stable = Array.from({ length: 500 }, (_, index) => `s${String(index).padStart(4, '0')}`);
      await Promise.all(stable.map((id, index) => mine.put(id, 1, { title: `t${index % 50}` })));
      let stop = false;
      const churn = (async () => {
        for (let turn = 2; !stop; turn++) {
          await Promise.all(
            Array.from({ length: 20 }, (_, index) =>
              theirs.put(`x${index}`, turn, { title: `t${(turn * 7 + index) % 60}` }),
            ),
          );
          await theirs.remove(`x${turn % 20}`, turn + 1);
          await theirs.put(stable[turn % 500] ?? '', turn, { title: `t${(turn % 500) % 50}`, touched: turn });
        }
      })();
      const seen: string[] = [];
      let after: readonly Scalar[] | undefined;
      do {
        const page = await mine.query({ orderBy: byTitle, limit: 17, ...(after === undefined ? {} : { after }) });
        const last = page.at(-1);
        after = last === undefined ? undefined : [String(last.document.title), last.id];
        seen.push(...page.map(({ id }) => id).filter((id) => id.startsWith('s')));
      } while (after !== undefined);
      stop = true;
      await churn;
      expect(seen.toSorted()).toEqual(stable);
      await other.close();
    }));

  test('scan gives every document once in the order of ids and stops when told', () =>
    withStore(harness, async (store) => {
      const samples = await store.collection<Sample>(sampleSpec);
      const ids = Array.from({ length: 1234 }, (_, index) => `d${String(index).padStart(5, '0')}`);
      await Promise.all(ids.map((id) => samples.put(id, 1, {})));
      expect((await collect(samples.scan())).map(({ id }) => id)).toEqual(ids);
      const abort = new AbortController();
      const some: string[] = [];
      const scanning = (async () => {
        for await (const { id } of samples.scan(abort.signal)) {
          some.push(id);
          if (some.length === 700) abort.abort();
        }
      })();
      await expect(scanning).rejects.toMatchObject({ name: 'AbortError' });
      expect(some.length).toBe(700);
    }));

  test('a closed store says so, and closing twice is fine', async () => {
    const place = await harness.createPlace();
    const store = await place.open();
    const samples = await store.collection<Sample>(sampleSpec);
    await store.close();
    await store.close();
    const unavailable = { code: 'read_store.unavailable' };
    await expect(samples.get('a')).rejects.toMatchObject(unavailable);
    await expect(samples.getMany(['a'])).rejects.toMatchObject(unavailable);
    await expect(samples.query({ limit: 1 })).rejects.toMatchObject(unavailable);
    await expect(samples.count()).rejects.toMatchObject(unavailable);
    await expect(collect(samples.scan())).rejects.toMatchObject(unavailable);
    await expect(samples.put('a', 1, {})).rejects.toMatchObject(unavailable);
    await expect(samples.compareAndPut('a', -1, {})).rejects.toMatchObject(unavailable);
    await expect(samples.purge({ rank: 1 }, 1)).rejects.toMatchObject(unavailable);
    await expect(store.batch([])).rejects.toMatchObject(unavailable);
    await expect(store.collection(sampleSpec)).rejects.toMatchObject(unavailable);
    await expect(store.drop(sampleSpec, 0)).rejects.toMatchObject(unavailable);
    await place.dispose();
  });
};
