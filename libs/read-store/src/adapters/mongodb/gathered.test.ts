import { describe, expect, test } from '@jest/globals';
import { GatheredReads } from './gathered.ts';

const store = (rows: Readonly<Record<string, number>>) => {
  const asked: (readonly string[])[] = [];
  const reads = new GatheredReads(async (ids) => {
    asked.push(ids);
    return ids.flatMap((_id) => (rows[_id] === undefined ? [] : [{ _id, r: rows[_id] }])).reverse();
  });
  return { asked, reads };
};

describe('reads by id', () => {
  test('of one turn of the event loop are one command, each id once', async () => {
    const { asked, reads } = store({ a: 1, b: 2 });
    const rows = await Promise.all(['a', 'b', 'missing', 'a'].map((id) => reads.get(id)));
    expect(rows.map((row) => row?.r)).toEqual([1, 2, undefined, 1]);
    expect(asked).toEqual([['a', 'b', 'missing']]);
  });

  test('begin after they were asked for: what is being read already is read again', async () => {
    const rows: Record<string, number> = { a: 1 };
    const begun = Promise.withResolvers<void>();
    const answers: PromiseWithResolvers<void>[] = [];
    const reads = new GatheredReads(async (ids) => {
      const found = ids.map((_id) => ({ _id, r: rows[_id] }));
      const answer = Promise.withResolvers<void>();
      answers.push(answer);
      begun.resolve();
      await answer.promise;
      return found;
    });
    const first = reads.get('a');
    await begun.promise;
    rows.a = 2;
    const second = reads.get('a');
    answers[0]?.resolve();
    expect((await first)?.r).toBe(1);
    while (answers.length < 2) await new Promise(setImmediate);
    answers[1]?.resolve();
    expect((await second)?.r).toBe(2);
  });

  /** Commands that are answered when the test says so. */
  const slowStore = (waitMs: number) => {
    const asked: (readonly string[])[] = [];
    const answers: PromiseWithResolvers<void>[] = [];
    const reads = new GatheredReads(async (ids) => {
      asked.push(ids);
      const answer = Promise.withResolvers<void>();
      answers.push(answer);
      await answer.promise;
      return ids.map((_id) => ({ _id }));
    }, waitMs);
    const underWay = async (count: number): Promise<void> => {
      while (asked.length < count) await new Promise(setImmediate);
    };
    return { asked, answers, reads, underWay };
  };

  test('wait for the command under way, and are one command then', async () => {
    const { asked, answers, reads, underWay } = slowStore(60_000);
    const all = [reads.get('a')];
    await underWay(1);
    for (const id of ['b', 'c']) {
      all.push(reads.get(id));
      await new Promise(setImmediate);
    }
    expect(asked).toEqual([['a']]);
    answers[0]?.resolve();
    await underWay(2);
    answers[1]?.resolve();
    expect((await Promise.all(all)).map((row) => row?._id)).toEqual(['a', 'b', 'c']);
    expect(asked).toEqual([['a'], ['b', 'c']]);
  });

  test('wait no longer than that: a command that does not end holds nobody up', async () => {
    const { asked, answers, reads, underWay } = slowStore(1);
    const all = [reads.get('a')];
    for (const [index, id] of ['b', 'c'].entries()) {
      await underWay(index + 1);
      all.push(reads.get(id));
    }
    await underWay(3);
    expect(asked).toEqual([['a'], ['b'], ['c']]);
    for (const { resolve } of answers) resolve();
    expect((await Promise.all(all)).map((row) => row?._id)).toEqual(['a', 'b', 'c']);
  });

  test('are more than one command beyond 250 ids', async () => {
    const { asked, reads } = store({});
    await Promise.all(Array.from({ length: 600 }, (_, index) => reads.get(`k${index}`)));
    expect(asked.map(({ length }) => length)).toEqual([250, 250, 100]);
  });

  test('fail together, and later ones do not', async () => {
    let broken = true;
    const reads = new GatheredReads(async (ids) => {
      if (broken) throw new Error('away');
      return ids.map((_id) => ({ _id }));
    });
    const failed = await Promise.allSettled([reads.get('a'), reads.get('a'), reads.get('b')]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    broken = false;
    expect(await reads.get('a')).toEqual({ _id: 'a' });
  });
});
