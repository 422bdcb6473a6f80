import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { SearchHit, SearchIndex, SearchPage, SearchScope } from '../port.ts';
import { openSqliteSearchIndex } from './sqlite.ts';

let folder: string;
let index: SearchIndex;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bindery-search-'));
  index = await openSqliteSearchIndex({ path: join(folder, 'search.db') });
});

afterEach(async () => {
  await index.close();
  await rm(folder, { recursive: true });
});

const page = (pageId: string, title: string, text = '', more: Partial<SearchPage> = {}): SearchPage => ({
  spaceId: 's1',
  organizationId: 'o1',
  pageId,
  title,
  path: pageId,
  ancestors: [],
  description: '',
  sections: text === '' ? [] : [{ id: '', title: '', level: 1, text }],
  revision: 1,
  ...more,
});

const search = (query: string, spaces: SearchScope = ['s1'], limit = 50): Promise<readonly SearchHit[]> =>
  index.search({ query, spaces, limit });
const ids = async (query: string, spaces?: SearchScope): Promise<readonly string[]> =>
  (await search(query, spaces)).map(({ pageId }) => pageId);

describe('spaces', () => {
  beforeEach(async () => {
    const pages = Array.from({ length: 300 }, (_, number) =>
      page('page', 'Guide', `text ${number}`, { spaceId: `s${number}`, organizationId: `o${number % 2}` }),
    );
    await index.put(pages);
  });

  const spacesOf = async (scope: SearchScope): Promise<readonly string[]> =>
    (await search('guide', scope, 1001)).map(({ spaceId }) => spaceId).toSorted();

  test('only the given ones, none for an empty list or unknown ids', async () => {
    expect(await spacesOf(['s7', 's250', 's8', 'unknown'])).toEqual(['s250', 's7', 's8']);
    expect(await spacesOf(['s7'])).toEqual(['s7']);
    expect(await spacesOf([])).toEqual([]);
    expect(await spacesOf(['unknown'])).toEqual([]);
  });

  test('those of an organization, with and without lists of thousands', async () => {
    const even = Array.from({ length: 150 }, (_, number) => `s${number * 2}`).toSorted();
    expect(await spacesOf({ organizationId: 'o0' })).toEqual(even);
    expect(await spacesOf({ organizationId: 'unknown' })).toEqual([]);
    const many = Array.from({ length: 5000 }, (_, number) => `s${number}`);
    expect(await spacesOf({ organizationId: 'o0', only: many })).toEqual(even);
    expect(await spacesOf({ organizationId: 'o0', except: many })).toEqual([]);
    expect(await spacesOf({ organizationId: 'o0', only: ['s1', 's2', 's4'], except: ['s4'] })).toEqual(['s2']);
    expect(await spacesOf({ organizationId: 'o0', only: [] })).toEqual([]);
  });

  test('a removed space is gone, and may come back', async () => {
    await index.removeSpace('s4');
    await index.removeSpace('s4');
    expect(await spacesOf(['s4', 's6'])).toEqual(['s6']);
    await index.put([page('page', 'Guide again', '', { spaceId: 's4', organizationId: 'o0', revision: 0 })]);
    expect(await spacesOf(['s4'])).toEqual(['s4']);
    expect((await index.stats()).pages).toBe(300);
  });
});

describe('changes', () => {
  test('an older or equal revision changes nothing, also after a removal', async () => {
    await index.put([page('p', 'New', 'fresh', { revision: 5 })]);
    await index.put([page('p', 'Old', 'stale', { revision: 4 }), page('p', 'Same', 'same', { revision: 5 })]);
    expect([await ids('new'), await ids('old'), await ids('same')]).toEqual([['p'], [], []]);
    await index.removePage('s1', 'p', 4);
    expect(await ids('new')).toEqual(['p']);
    await index.removePage('s1', 'p', 6);
    await index.put([page('p', 'Late', 'late', { revision: 6 })]);
    expect([await ids('new'), await ids('late'), (await index.stats()).pages]).toEqual([[], [], 0]);
    await index.put([page('p', 'Back', '', { revision: 7 })]);
    expect(await ids('back')).toEqual(['p']);
  });

  test('many changes of one page in one batch leave the words of the last', async () => {
    await index.put([page('p', 'First', 'first')]);
    await index.apply([
      { kind: 'put', page: page('p', 'Second', 'second', { revision: 2 }) },
      { kind: 'remove-page', spaceId: 's1', pageId: 'p', revision: 3 },
      { kind: 'put', page: page('p', 'Third', 'third', { revision: 4 }) },
      { kind: 'put', page: page('q', 'Gone', 'gone', { spaceId: 's2' }) },
      { kind: 'remove-space', spaceId: 's2' },
      { kind: 'put', page: page('q', 'Stays', 'stays', { spaceId: 's2' }) },
    ]);
    expect([await ids('first'), await ids('second'), await ids('third')]).toEqual([[], [], ['p']]);
    expect([await ids('gone', ['s2']), await ids('stays', ['s2'])]).toEqual([[], ['q']]);
  });

  test('the position is stored with the changes, or neither is', async () => {
    expect(await index.position()).toBeUndefined();
    await index.put([page('p', 'One')], '10');
    expect(await index.position()).toBe('10');
    const broken = page('q', 'Two', '', { ancestors: [1n as unknown as string] });
    await expect(index.put([page('r', 'Three'), broken], '11')).rejects.toThrow(TypeError);
    expect([await index.position(), await ids('three'), await ids('one')]).toEqual(['10', [], ['p']]);
    await Promise.all([index.put([page('r', 'Three')], '11'), index.removePage('s1', 'p', 9, '12')]);
    expect([await index.position(), await ids('three'), await ids('one')]).toEqual(['12', ['r'], []]);
  });

  test('reopened, everything is there', async () => {
    await index.put([page('p', 'Kept', 'kept text')], '3');
    await index.close();
    index = await openSqliteSearchIndex({ path: join(folder, 'search.db') });
    expect([await ids('kept'), await index.position()]).toEqual([['p'], '3']);
  });
});

describe('copies', () => {
  test('a snapshot restores pages, words and position into another index', async () => {
    await index.put([page('p', 'Snapshot', 'text 文書')], '42');
    const path = join(folder, 'copy.snapshot');
    await index.snapshot(path);
    await index.put([page('q', 'Later')], '43');
    const other = await openSqliteSearchIndex({ path: join(folder, 'other.db') });
    await other.put([page('x', 'Former')], '1');
    await other.restore(path);
    const hits = async (query: string): Promise<number> =>
      (await other.search({ query, spaces: ['s1'], limit: 9 })).length;
    expect([await hits('文書'), await hits('later'), await hits('former'), await other.position()]).toEqual([
      1,
      0,
      0,
      '42',
    ]);
    await other.put([page('q', 'Goes on')], '44');
    expect(await hits('goes')).toBe(1);
    await other.close();
  });

  test('what is no snapshot is refused, and the index stays', async () => {
    await index.put([page('p', 'Stays')]);
    await writeFile(join(folder, 'junk'), 'x'.repeat(10_000));
    await writeFile(join(folder, 'empty'), '');
    for (const name of ['junk', 'empty'])
      await expect(index.restore(join(folder, name))).rejects.toMatchObject({ code: 'search.unusable' });
    await expect(index.restore(join(folder, 'absent'))).rejects.toThrow('ENOENT');
    expect(await ids('stays')).toEqual(['p']);
    await expect(openSqliteSearchIndex({ path: join(folder, 'junk') })).rejects.toMatchObject({
      code: 'search.unusable',
    });
  });

  test('a closed index says so', async () => {
    await index.close();
    const unavailable = { code: 'search.unavailable' };
    await expect(search('x')).rejects.toMatchObject(unavailable);
    await expect(index.put([])).rejects.toMatchObject(unavailable);
    await expect(index.position()).rejects.toMatchObject(unavailable);
    await expect(index.stats()).rejects.toMatchObject(unavailable);
    await expect(index.snapshot(join(folder, 'x'))).rejects.toMatchObject(unavailable);
  });

  test.each([0, 1002, 1.5, Number.NaN])('%d is no limit', async (limit) => {
    await expect(search('x', ['s1'], limit)).rejects.toThrow(RangeError);
  });
});
