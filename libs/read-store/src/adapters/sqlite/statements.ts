import type { SQLInputValue } from 'node:sqlite';
import type { Query, Scalar, Where } from '../../port.ts';
import { type ParsedCondition, parseCondition, type RangeOperator } from '../../query-rules.ts';
import { encode, encodeElement, type Layout } from './layout.ts';

/** A condition in SQL with its values. */
export interface Clause {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

const OPERATORS: Readonly<Record<RangeOperator, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' };
const NOTHING: Clause = { sql: '0', parameters: [] };

/**
 * All conditions of `where`. Tombstones have null in every index column, so they need a condition of their own only
 * where a null would match; leaving it out lets the engine count in the index alone.
 */
export const whereClauses = (layout: Layout, where: Where): readonly Clause[] => {
  let mayMatchTombstone = true;
  const clauses = Object.entries(where).map(([field, condition]) => {
    const parsed = parseCondition(field, condition);
    mayMatchTombstone &&= matchesNull(parsed);
    return clauseOf(layout, field, parsed);
  });
  return mayMatchTombstone ? [...clauses, { sql: 'document IS NOT NULL', parameters: [] }] : clauses;
};

/** `WHERE ...` of clauses, or nothing. */
export const whereSql = (clauses: readonly Clause[]): string =>
  clauses.length === 0 ? '' : ` WHERE ${clauses.map(({ sql }) => sql).join(' AND ')}`;

/**
 * The page of a query as one or more ranges, each in the order of the result, to be read one after another until the
 * limit is reached. A keyset over several fields is no single range of an index, but it is a few of them:
 * same first fields and a later last one, then same but for the last, and so on.
 */
export const pageRanges = (
  layout: Layout,
  query: Query,
): { readonly order: string; readonly ranges: readonly (readonly Clause[])[] } => {
  const orderBy = query.orderBy ?? [];
  const keys = [
    ...orderBy.map(({ field, direction }) => ({ column: columnOf(layout, field), direction })),
    { column: 'id', direction: orderBy.at(-1)?.direction ?? 'asc' },
  ];
  const order = ` ORDER BY ${keys.map(({ column, direction }) => `${column} ${direction === 'desc' ? 'DESC' : 'ASC'}`).join(', ')}`;
  const base = whereClauses(layout, query.where ?? {});
  const { after } = query;
  if (after === undefined) return { order, ranges: [base] };
  const ranges = keys.flatMap((key, position) => {
    const same = keys.slice(0, position).map(({ column }, index) => equals(column, after[index] ?? null));
    return beyond(key.column, key.direction, after[position] ?? null).map((clause) => [...base, ...same, clause]);
  });
  // The rows that share most with the last one come first.
  const depth = keys.map((key, position) => beyond(key.column, key.direction, after[position] ?? null).length);
  return { order, ranges: deepestFirst(ranges, depth) };
};

const deepestFirst = (ranges: readonly (readonly Clause[])[], depth: readonly number[]): (readonly Clause[])[] => {
  const groups: (readonly Clause[])[][] = [];
  let start = 0;
  for (const length of depth) {
    groups.unshift(ranges.slice(start, start + length));
    start += length;
  }
  return groups.flat();
};

/** What comes strictly after a value in one column; null is first when ascending, last when descending. */
const beyond = (column: string, direction: 'asc' | 'desc', value: Scalar): readonly Clause[] => {
  if (direction === 'asc')
    return [
      value === null
        ? { sql: `${column} IS NOT NULL`, parameters: [] }
        : { sql: `${column} > ?`, parameters: [encode(value)] },
    ];
  if (value === null) return [];
  return [
    { sql: `${column} < ?`, parameters: [encode(value)] },
    { sql: `${column} IS NULL`, parameters: [] },
  ];
};

const matchesNull = (condition: ParsedCondition): boolean => {
  switch (condition.kind) {
    case 'equals':
      return condition.value === null;
    case 'in':
      return condition.values.includes(null);
    case 'contains':
      return false;
    case 'not-equals':
      return condition.value !== null;
    case 'range':
      return condition.bounds.every(({ value }) => value === null);
  }
};

const clauseOf = (layout: Layout, field: string, condition: ParsedCondition): Clause => {
  if (condition.kind === 'contains') {
    const side = layout.sides.find((candidate) => candidate.field === field);
    if (side === undefined) throw new TypeError(`${field} has no multi index`);
    return {
      sql: `id IN (SELECT id FROM ${side.table} WHERE value = ?)`,
      parameters: [encodeElement(condition.value)],
    };
  }
  const column = columnOf(layout, field);
  switch (condition.kind) {
    case 'equals':
      return equals(column, condition.value);
    case 'not-equals':
      if (condition.value === null) return { sql: `${column} IS NOT NULL`, parameters: [] };
      return { sql: `${column} IS NOT ?`, parameters: [encode(condition.value)] };
    case 'in':
      return oneOf(column, condition.values);
    case 'range':
      return join(condition.bounds.map(({ operator, value }) => bound(column, operator, value)));
  }
};

const equals = (column: string, value: Scalar): Clause =>
  value === null ? { sql: `${column} IS NULL`, parameters: [] } : { sql: `${column} = ?`, parameters: [encode(value)] };

const oneOf = (column: string, values: readonly Scalar[]): Clause => {
  const present = values.filter((value) => value !== null);
  const withNull = present.length < values.length;
  if (present.length === 0) return withNull ? equals(column, null) : NOTHING;
  // Rounded up to a power of two, so that few different statements occur.
  const padded = Array.from(
    { length: 2 ** Math.ceil(Math.log2(present.length)) },
    (_, index) => present[index] ?? present[0] ?? '',
  );
  const list = `${column} IN (${padded.map(() => '?').join(',')})`;
  return { sql: withNull ? `(${list} OR ${column} IS NULL)` : list, parameters: padded.map(encode) };
};

/** One bound; values of another type than the bound never match. */
const bound = (column: string, operator: RangeOperator, value: Scalar): Clause => {
  if (value === null) return operator === 'gte' || operator === 'lte' ? equals(column, null) : NOTHING;
  const own = `${column} ${OPERATORS[operator]} ?`;
  const upward = operator === 'gt' || operator === 'gte';
  const parameters = [encode(value)];
  if (typeof value === 'number') return { sql: upward ? `${own} AND ${column} < ''` : own, parameters };
  if (typeof value === 'string') return { sql: `${own} AND ${column} ${upward ? "< x''" : ">= ''"}`, parameters };
  return { sql: upward ? own : `${own} AND ${column} >= x''`, parameters };
};

const join = (clauses: readonly Clause[]): Clause => ({
  sql: clauses.map(({ sql }) => sql).join(' AND '),
  parameters: clauses.flatMap(({ parameters }) => parameters),
});

const columnOf = (layout: Layout, field: string): string => {
  const column = layout.columns.get(field);
  if (column === undefined) throw new TypeError(`${field} has no index`);
  return column;
};
