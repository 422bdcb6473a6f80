import { mkdtemp, rm } from 'node:fs/promises';
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
        const last = hits.at(-1);
        if (last === undefined) break;
        // What clients are told about the score is enough.
        after = { ...last, score: Math.floor(last.score / 1000) * 1000, shown: seen.length };
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
  test('goes on after a page that was removed, or does not match any more, without a repeat or a gap', async () => {
    const pages = Array.from({ length: 9 }, (_, number) =>
      page(`p${number}`, 'Other', `${'needle '.repeat(number + 1)}`),
    );
    await index.put(pages);
    const whole = (await search('needle', ['s1'], 100)).map(({ pageId }) => pageId);
    expect(whole).toHaveLength(9);
    for (const change of ['edited', 'removed'] as const) {
      const before = (await search('needle', ['s1'], 100)).slice(0, 3);
      const last = before.at(-1);
      if (last === undefined) throw new Error('nothing was found');
      if (change === 'removed') await index.removePage('s1', last.pageId, 100);
      else await index.put([{ ...page(last.pageId, 'Other', 'nothing'), revision: 50 }]);
      const rest = await index.search({ query: 'needle', spaces: ['s1'], limit: 100, after: { ...last, shown: 3 } });
      const left = (await search('needle', ['s1'], 100)).map(({ pageId }) => pageId);
      expect([...before.slice(0, 2), ...rest].map(({ pageId }) => pageId)).toEqual(left);
    }
  });

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
