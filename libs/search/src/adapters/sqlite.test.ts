import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { SearchCursor, SearchHit, SearchIndex, SearchPage, SearchScope } from '../port.ts';
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

const heading = (title: string, text = ''): Partial<SearchPage> => ({ sections: [{ id: 'h', title, level: 2, text }] });

const search = (query: string, spaces: SearchScope = ['s1'], limit = 50): Promise<readonly SearchHit[]> =>
  index.search({ query, spaces, limit });
const ids = async (query: string, spaces?: SearchScope): Promise<readonly string[]> =>
  (await search(query, spaces)).map(({ pageId }) => pageId);

describe('words', () => {
  test.each([
    ['instal', 'How to install'],
    ['HOW INST', 'How to install'],
    ['in ho', 'How to install'],
    ['cafe', 'Café'],
    ['CAFÉ', 'cafe'],
    ['cafe\u0301', 'CAFÉ'],
    ['strasse', 'Straße'],
    ['straße', 'STRASSE'],
    ['istanbul', 'İstanbul'],
    ['ISTANBUL', 'ıstanbul'],
    ['dien', 'Điện thoại'],
    ['thoai dien', 'Điện thoại'],
    ['pho', 'Phở bò'],
    ['ødegård', 'Odegard'],
    ['ελλαδα', 'Ελλάδα'],
    ['елка', 'Ёлка'],
    ['node', 'Ｎｏｄｅ full width'],
    ['文書', '社内文書管理システム'],
    ['文', '社内文書管理システム'],
    ['ム', '社内文書管理システム'],
    ['書管理', '社内文書管理システム'],
    ['システム', '社内文書管理システム'],
    ['ガイド', 'ｶﾞｲﾄﾞ'],
    ['设置', '如何设置账户'],
    ['户', '如何设置账户'],
    ['설치', '한국어설치안내'],
    ['คู่มือ', 'อ่านคู่มือการใช้งาน'],
    ['Node入門', 'Node.js入門と Node入門'],
    ['\u{20bb7}', '\u{20bb7}野家'],
    ['dispatcher', 'WorkflowDispatcher'],
    ['workflowdisp', 'WorkflowDispatcher'],
    ['WorkflowDispatcher', 'WorkflowDispatcher'],
    ['server', 'HTTPServerFactory'],
    ['httpserverfactory', 'HTTPServerFactory'],
    ['bar', 'foo_bar'],
    ['foo_bar', 'foo_bar'],
    ['foo_b', 'the foo_bar option'],
    ['a.b.c', 'a.b.c'],
    ['b.c', 'a.b.c'],
    ['Elsa.Workflows.WorkflowDispatcher.Run', 'call Elsa.Workflows.WorkflowDispatcher.RunAsync now'],
    ["don't", 'Don’t panic'],
    ['co\u00adoperate', 'cooperate'],
  ])('%j finds %j in a title and in a text', async (query, text) => {
    await index.put([page('title', text), page('text', 'Other', text), page('none', 'Nothing of this', 'zzz qqq')]);
    expect(await ids(query)).toEqual(['title', 'text']);
  });

  test.each([
    ['stall', 'How to install'],
    ['installs', 'How to install'],
    ['文管', '社内文書管理'],
    ['a.c', 'a.b.c'],
    ['install missing', 'How to install'],
  ])('%j does not find %j', async (query, text) => {
    await index.put([page('p', text, text)]);
    expect(await ids(query)).toEqual([]);
  });

  test('all words must occur, wherever in the page', async () => {
    await index.put([
      page('p', 'Alpha', 'gamma', {
        description: 'delta',
        sections: [{ id: 'h', title: 'Beta', level: 2, text: 'gamma' }],
      }),
    ]);
    expect(await ids('delta gam bet alp')).toEqual(['p']);
    expect(await ids('alpha epsilon')).toEqual([]);
  });
});

describe('any query is just text', () => {
  const hostile = [
    '',
    ' ',
    '!?.,;',
    '"',
    '""',
    '*',
    '""*',
    'NEAR(',
    'OR',
    'AND NOT',
    '-',
    '^',
    ':',
    '()',
    '{title} : x',
    '\0',
    'a\0b',
    '\ud800',
    '%_',
    "'; DROP TABLE pages; --",
    '\ue000abc',
    '🙂',
    '\u0301',
  ];

  test.each(hostile)('%j', async (query) => {
    await index.put([page('p', 'Title', 'text')]);
    expect(await ids(query)).toEqual([]);
  });

  test('operators and quotes are words', async () => {
    await index.put([page('p', 'NOT NEAR AND OR'), page('q', 'say "hello" (world)*')]);
    expect(await ids('NOT')).toEqual(['p']);
    expect(await ids('near(and, or)')).toEqual(['p']);
    expect(await ids('"hello" (wor*')).toEqual(['q']);
    expect(await ids('title:hello')).toEqual([]);
  });

  test('3000 random queries of up to 512 characters never throw', async () => {
    await index.put([page('p', 'Title', 'text 文書 สวัสดี'), page('q', 'a b c', 'd.e_f')]);
    const alphabet = Array.from(
      'abcXYZ019 \t\n"\'*()^:-+{}[]|&!~@#\\/.,_\0\u00e9\u0301\u6587\u66f8\u0e04\uac00\ud800\udc00\ue000\u{1f600}\u202e',
    );
    let state = 1;
    const below = (bound: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return state % bound;
    };
    for (let round = 0; round < 3000; round++) {
      const query = Array.from(
        { length: round % 50 === 0 ? 512 : below(24) },
        () => alphabet[below(alphabet.length)],
      ).join('');
      await expect(search(query)).resolves.toBeInstanceOf(Array);
    }
    await expect(search('文'.repeat(512))).resolves.toEqual([]);
    await expect(search(Array.from({ length: 256 }, (_, word) => `w${word}`).join(' '))).resolves.toEqual([]);
    await expect(search('x'.repeat(100_000))).resolves.toEqual([]);
  });
});

describe('order', () => {
  test('the exact title, then titles, headings, texts', async () => {
    await index.put([
      page('text', 'Other', 'deploy deploy deploy deploy deploy'),
      page('heading', 'Other', '', heading('Deploy it')),
      page('title', 'Deploy to the cluster and much more'),
      page('exact', 'Deploy'),
      page('description', 'Other', '', { description: 'deploy' }),
    ]);
    const hits = await search('deploy');
    expect(hits.map(({ pageId }) => pageId).slice(0, 3)).toEqual(['exact', 'title', 'heading']);
    expect(hits.length).toBe(5);
    const scores = hits.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((left, right) => right - left));
  });

  test('more of the words of the query weigh more', async () => {
    const filler = 'lorem ipsum dolor sit amet '.repeat(20);
    await index.put([
      page('a', 'Other', `${filler} cluster`),
      page('b', 'Other', 'cluster cluster cluster'),
      ...Array.from({ length: 20 }, (_, number) => page(`f${number}`, 'Filler', filler)),
    ]);
    expect(await ids('cluster')).toEqual(['b', 'a']);
  });

  test('pages of equal score come by id, then space; every page once, whatever the size of the steps', async () => {
    const numbers = Array.from({ length: 2500 }, (_, number) => number);
    await index.put(
      numbers.map((number) =>
        page(
          `p${(number * 7919) % 2500}`,
          number % 3 === 0 ? 'Same words' : 'Other',
          number % 2 === 0 ? 'same words here' : `same ${'x '.repeat(number % 9)} words`,
          {
            spaceId: `s${number % 4}`,
            ...(number % 5 === 0 ? heading('Same words too') : {}),
          },
        ),
      ),
    );
    const spaces = ['s0', 's1', 's2'];
    for (const query of ['same words', 'sa', 'other', 'same words too']) {
      const whole = await search(query, spaces, 1001);
      const seen: SearchHit[] = [];
      for (let after: SearchCursor | undefined; seen.length < whole.length; ) {
        const hits = await index.search({ query, spaces, limit: 97, ...(after === undefined ? {} : { after }) });
        seen.push(...hits);
        after = hits.at(-1);
        if (after === undefined) break;
      }
      const places = seen
        .slice(0, whole.length)
        .map(({ score, pageId, spaceId }) => [-score, pageId, spaceId] as const);
      expect(places).toEqual(whole.map(({ score, pageId, spaceId }) => [-score, pageId, spaceId]));
      expect(places).toEqual(
        places.toSorted(
          (left, right) =>
            left[0] - right[0] || (left[1] < right[1] ? -1 : left[1] > right[1] ? 1 : left[2] < right[2] ? -1 : 1),
        ),
      );
      expect(new Set(places.map(([, id]) => id)).size).toBe(places.length);
    }
  });
});

describe('sections', () => {
  test('hold what was found, with text around it', async () => {
    const long = `${'before '.repeat(60)}needle ${'after '.repeat(60)}`;
    await index.put([
      page('p', 'Page', '', {
        sections: [
          { id: '', title: '', level: 1, text: 'nothing here' },
          { id: 'one', title: 'One', level: 2, text: long },
          { id: 'two', title: 'Needle and haystack', level: 3, text: 'haystack\n\n  only' },
        ],
      }),
    ]);
    const [hit] = await search('needle haystack');
    expect(hit?.sections.map(({ id, score, level }) => [id, score, level])).toEqual([
      ['two', 1, 3],
      ['one', 0.5, 2],
    ]);
    expect(hit?.sections[0]?.body).toBe('haystack only');
    const body = hit?.sections[1]?.body ?? '';
    expect(body).toContain('needle after');
    expect(body.length).toBeLessThanOrEqual(200);
    expect(body.length).toBeGreaterThan(150);
  });

  test.each([
    ['書管', '前文。社内文書管理システム', '文書管理'],
    ['uber', 'Das läuft über alles', 'über'],
    ['dispatcher', `${'x '.repeat(300)} the WorkflowDispatcher runs`, 'WorkflowDispatcher'],
    ['dispatcher', `${'é '.repeat(300)} the WorkflowDispatcher runs`, 'WorkflowDispatcher'],
    ['a.b', `${'x '.repeat(300)} use a.b.c`, 'a.b.c'],
  ])('%j is shown in its place', async (query, text, shown) => {
    await index.put([page('p', 'Page', text)]);
    expect((await search(query))[0]?.sections[0]?.body).toContain(shown);
  });
});

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
