import type { Query, Scalar, Where } from '../../port.ts';
import { type ParsedCondition, parseCondition, type RangeOperator } from '../../query-rules.ts';
import { boundsOfType, encode, encodeText } from './encode.ts';
import { fieldPath, multiPath } from './layout.ts';

/** Conditions on one path; all of them hold. */
type Comparison = string | Readonly<Record<string, string | readonly string[]>>;
/** A filter of the server. */
export type Filter = Readonly<Record<string, unknown>>;

/** A query as the server is asked. */
export interface ServerQuery {
  readonly filter: Filter;
  readonly sort: Readonly<Record<string, 1 | -1>>;
}

/** All conditions of `where` and being alive; undefined when no document can match. */
export const whereFilter = (where: Where): Filter | undefined => {
  const filter = new Map<string, unknown>([['l', 1]]);
  for (const [field, condition] of Object.entries(where)) {
    const parsed = parseCondition(field, condition);
    const comparison = comparisonOf(parsed);
    if (comparison === undefined) return undefined;
    filter.set(parsed.kind === 'contains' ? multiPath(field) : fieldPath(field), comparison);
  }
  return Object.fromEntries(filter);
};

/**
 * The page of a query. What comes after a keyset is no single range of an index, but a few of them (same first fields and
 * a later last one, then same but for the last, and so on). Each is an alternative that holds the whole condition: then
 * the server reads each from the index in order, and merges.
 */
export const pageQuery = (query: Query): ServerQuery | undefined => {
  const base = whereFilter(query.where ?? {});
  if (base === undefined) return undefined;
  const orderBy = query.orderBy ?? [];
  const keys = [
    ...orderBy.map(({ field, direction }) => ({ path: fieldPath(field), direction })),
    { path: '_id', direction: orderBy.at(-1)?.direction ?? 'asc' },
  ];
  const sort = Object.fromEntries(keys.map(({ path, direction }) => [path, direction === 'asc' ? 1 : -1] as const));
  const { after } = query;
  if (after === undefined) return { filter: base, sort };
  const last = keys.map(({ path }, position) => {
    const value = after[position] ?? null;
    return path === '_id' ? encodeText(String(value)) : encode(value);
  });
  const alternatives = keys.map(({ path, direction }, position) => {
    const same = keys.slice(0, position).map((key, index) => ({ [key.path]: last[index] }));
    return allOf([base, ...same, { [path]: { [direction === 'asc' ? '$gt' : '$lt']: last[position] } }]);
  });
  const [only] = alternatives;
  return { filter: alternatives.length === 1 && only !== undefined ? only : { $or: alternatives }, sort };
};

/** Merged into one object where no path occurs twice. */
const allOf = (filters: readonly Filter[]): Filter => {
  const paths = filters.flatMap((filter) => Object.keys(filter));
  return new Set(paths).size === paths.length ? Object.assign({}, ...filters) : { $and: filters };
};

/** undefined: nothing matches. */
const comparisonOf = (condition: ParsedCondition): Comparison | undefined => {
  switch (condition.kind) {
    case 'equals':
    case 'contains':
      return encode(condition.value);
    case 'not-equals':
      return { $ne: encode(condition.value) };
    case 'in':
      return condition.values.length === 0 ? undefined : { $in: [...new Set(condition.values.map(encode))] };
    case 'range':
      return rangeOf(condition.bounds);
  }
};

/** One range of the index: the narrowest of the bounds and the limits of their types. */
const rangeOf = (
  bounds: readonly { readonly operator: RangeOperator; readonly value: Scalar }[],
): Comparison | undefined => {
  let from: { readonly text: string; readonly open: boolean } | undefined;
  let below: { readonly text: string; readonly open: boolean } | undefined;
  const raise = (text: string, open: boolean): void => {
    if (from === undefined || text > from.text || (text === from.text && open)) from = { text, open };
  };
  const lower = (text: string, open: boolean): void => {
    if (below === undefined || text < below.text || (text === below.text && open)) below = { text, open };
  };
  for (const { operator, value } of bounds) {
    const open = operator === 'gt' || operator === 'lt';
    const text = encode(value);
    const upward = operator === 'gt' || operator === 'gte';
    if (value === null) {
      // The only null is equal to the bound.
      if (open) return undefined;
      raise(text, false);
      lower(text, false);
      continue;
    }
    const [first, end] = boundsOfType(value);
    if (upward) raise(text, open);
    else lower(text, open);
    if (upward) lower(end, true);
    else raise(first, false);
  }
  if (from === undefined || below === undefined || from.text > below.text) return undefined;
  if (from.text === below.text && (from.open || below.open)) return undefined;
  return { [from.open ? '$gt' : '$gte']: from.text, [below.open ? '$lt' : '$lte']: below.text };
};
