import type { SQLInputValue } from 'node:sqlite';
import type { SearchCursor, SearchScope } from '../../port.ts';
import { expressionOf, type Term } from '../../text/query.ts';
import { exactToken } from './changes.ts';
import { type Database, PAGES_PER_SPACE } from './database.ts';

/** More candidates than this are not weighed one by one: words that so many pages hold tell little about any of them. */
const WEIGHED = 1000;
const TIER = 1000;

/** A found page. */
export interface Ranked {
  readonly key: number;
  readonly score: number;
}

interface Tier {
  /** Score of its least page. */
  readonly base: number;
  readonly table: 'head' | 'full';
  readonly expression: string;
  /** Weights of the columns of the table; without them all its pages are equal. */
  readonly weights?: string;
  /** Pages that a better tier holds already. */
  readonly without?: string;
}

interface Filter {
  /** For the column that holds the keys. */
  readonly sql: (column: string) => string;
  readonly parameters: readonly SQLInputValue[];
  /** So few pages that they need not be counted before they are weighed. */
  readonly narrow: boolean;
}

/**
 * The best pages, tier by tier: the title is the query; the title holds all words; title and headings do; the page
 * does. Within a tier by weight (bm25, 10 for the title, 4 for headings, 1 for text), then by page id.
 */
export const rankPages = (
  database: Database,
  request: {
    readonly query: string;
    readonly terms: readonly Term[];
    readonly scope: SearchScope;
    readonly limit: number;
    readonly after?: SearchCursor;
  },
): readonly Ranked[] => {
  const filter = filterOf(database, request.scope);
  if (filter === undefined || request.terms.length === 0) return [];
  const { after, limit } = request;
  const afterSpace =
    after === undefined ? 0 : Number(database.first('SELECT number FROM spaces WHERE id=?', after.spaceId)?.[0] ?? 0);
  const ranked: Ranked[] = [];
  for (const tier of tiersOf(request.query, request.terms)) {
    if (after !== undefined && tier.base > after.score) continue;
    const inside = after !== undefined && after.score < tier.base + TIER;
    const start = inside ? { page: after.pageId, space: afterSpace } : undefined;
    const found = pagesOf(database, tier, filter, limit - ranked.length, start);
    if (found === undefined) {
      const shown = Math.max(0, (after?.shown ?? 0) - 1);
      const { after: _gone, ...anew } = request;
      return rankPages(database, { ...anew, limit: shown + limit }).slice(shown);
    }
    ranked.push(...found);
    if (ranked.length >= limit) break;
  }
  return ranked;
};

interface Start {
  readonly page: string;
  readonly space: number;
}

/** @returns undefined when the search begins at a page that is not in the tier, and its weight matters */
const pagesOf = (
  database: Database,
  tier: Tier,
  filter: Filter,
  limit: number,
  start: Start | undefined,
): readonly Ranked[] | undefined => {
  const { table } = tier;
  const matching = `SELECT rowid FROM ${table} WHERE ${table} MATCH ?${filter.sql(`${table}.rowid`)}`;
  const wanted = [tier.expression, ...filter.parameters];
  const counting = `SELECT count(*) FROM (${matching} LIMIT ${WEIGHED + 1})`;
  const count = filter.narrow ? undefined : Number(database.first(counting, ...wanted)?.[0]);
  if (count === 0) return start === undefined ? [] : undefined;
  const without = tier.without === undefined ? '' : ' AND p.key NOT IN (SELECT rowid FROM head WHERE head MATCH ?)';
  const excluded = tier.without === undefined ? [] : [tier.without];
  const from = start ?? { page: '', space: 0 };
  if (count !== undefined && count > WEIGHED) {
    // By page id alone: walk the pages in that order until enough are among the candidates.
    const sql = `SELECT p.key FROM pages p INDEXED BY pages_by_id WHERE (p.page, p.space) > (?, ?)
      AND +p.key IN (${matching})${without.replace('p.key', '+p.key')} ORDER BY p.page, p.space LIMIT ?`;
    return database
      .all(sql, from.page, from.space, ...wanted, ...excluded, limit)
      .map(([key]) => ({ key: Number(key), score: tier.base }));
  }
  const weight =
    tier.weights === undefined ? '0' : `round(min(${TIER - 1}, max(0.001, -bm25(${table}, ${tier.weights}))), 3)`;
  const weighed = `SELECT p.key AS key, p.page AS page, p.space AS space, ${weight} AS weight
      FROM ${table} CROSS JOIN pages p ON p.key = ${table}.rowid WHERE ${table} MATCH ?${filter.sql(`${table}.rowid`)}${without}`;
  let least = TIER;
  if (start !== undefined) {
    const key = database.first('SELECT key FROM pages WHERE page=? AND space=?', start.page, start.space)?.[0] ?? -1;
    const own = database.first(`${weighed} AND ${table}.rowid = ?`, ...wanted, ...excluded, key);
    if (own === undefined) return undefined;
    least = Number(own[3]);
  }
  const sql = `SELECT key, weight FROM (${weighed})
    WHERE weight < ? OR (weight = ? AND (page, space) > (?, ?)) ORDER BY weight DESC, page, space LIMIT ?`;
  return database
    .all(sql, ...wanted, ...excluded, least, least, from.page, from.space, limit)
    .map(([key, found]) => ({ key: Number(key), score: rounded(tier.base + Number(found)) }));
};

/** Weights have three digits, as the query gives them. */
const rounded = (value: number): number => Math.round(value * 1000) / 1000;

const tiersOf = (query: string, terms: readonly Term[]): readonly Tier[] => {
  const all = expressionOf(terms);
  const exact = `exact : "${exactToken(query)}"`;
  const inTitle = `title : (${all})`;
  const inHead = `{title headings} : (${all})`;
  return [
    { base: 4 * TIER, table: 'head', expression: exact },
    { base: 3 * TIER, table: 'head', expression: inTitle, weights: '0, 10, 4', without: exact },
    { base: 2 * TIER, table: 'head', expression: inHead, weights: '0, 10, 4', without: inTitle },
    { base: TIER, table: 'full', expression: all, weights: '10, 4, 1', without: inHead },
  ];
};

/** Which spaces, as a condition on the keys of their pages; undefined when there is none. */
const filterOf = (database: Database, scope: SearchScope): Filter | undefined => {
  const numbers = spacesOf(database, scope).map(([number]) => Number(number));
  const [first] = numbers;
  if (first === undefined) return undefined;
  const low = numbers.reduce((left, right) => Math.min(left, right), first);
  const high = numbers.reduce((left, right) => Math.max(left, right), first);
  const range = [low * PAGES_PER_SPACE, (high + 1) * PAGES_PER_SPACE - 1];
  if (high - low + 1 === numbers.length)
    return { sql: (column) => ` AND ${column} BETWEEN ? AND ?`, parameters: range, narrow: isNarrow(database, range) };
  if (numbers.length === Number(database.first('SELECT count(*) FROM spaces')?.[0]))
    return { sql: () => '', parameters: [], narrow: false };
  return {
    sql: (column) =>
      ` AND ${column} BETWEEN ? AND ? AND ${column} / ${PAGES_PER_SPACE} IN (SELECT value FROM json_each(?))`,
    parameters: [...range, JSON.stringify(numbers)],
    narrow: false,
  };
};

const isNarrow = (database: Database, range: readonly number[]): boolean =>
  Number(
    database.first(
      `SELECT count(*) FROM (SELECT 1 FROM pages WHERE key BETWEEN ? AND ? LIMIT ${WEIGHED + 1})`,
      ...range,
    )?.[0],
  ) <= WEIGHED;

const spacesOf = (database: Database, scope: SearchScope) => {
  if ('organizationId' in scope) {
    const { organizationId, only, except } = scope;
    const clauses = [
      'organization = ?',
      ...(only ? [`id IN ${LISTED}`] : []),
      ...(except ? [`id NOT IN ${LISTED}`] : []),
    ];
    const lists = [only, except].filter((list) => list !== undefined).map((list) => JSON.stringify(list));
    return database.all(`SELECT number FROM spaces WHERE ${clauses.join(' AND ')}`, organizationId, ...lists);
  }
  return database.all(`SELECT number FROM spaces WHERE id IN ${LISTED}`, JSON.stringify(scope));
};
const LISTED = '(SELECT value FROM json_each(?))';
