import { MissingIndex } from './errors.ts';
import { multiField } from './fields.ts';
import type { CollectionSpec, Condition, Query, Scalar, Where } from './port.ts';

/** Most rows of one query: one more than the largest page of the reference, to know whether there is a next one. */
export const MAX_QUERY_LIMIT = 1001;
/** Most ids of one `getMany`, most values of one `in`. */
export const MAX_VALUES = 1000;
/** Most documents of one `purge`. */
export const MAX_PURGE = 10_000;
const MAX_ID_LENGTH = 1024;

/** A condition with its kind spelled out. */
export type ParsedCondition =
  | { readonly kind: 'equals'; readonly value: Scalar }
  | { readonly kind: 'in'; readonly values: readonly Scalar[] }
  | { readonly kind: 'contains'; readonly value: Scalar }
  | { readonly kind: 'not-equals'; readonly value: Scalar }
  | {
      readonly kind: 'range';
      readonly bounds: readonly { readonly operator: RangeOperator; readonly value: Scalar }[];
    };

/** The comparisons of a range condition. Only values of the same type as the bound match. */
export type RangeOperator = 'gt' | 'gte' | 'lt' | 'lte';
const RANGE_OPERATORS: readonly RangeOperator[] = ['gt', 'gte', 'lt', 'lte'];

/** @throws TypeError when it is no condition of the port */
export const parseCondition = (field: string, condition: Condition): ParsedCondition => {
  if (typeof condition !== 'object' || condition === null) return { kind: 'equals', value: scalar(field, condition) };
  if ('in' in condition) {
    if (condition.in.length > MAX_VALUES) throw new RangeError(`${field}: more than ${MAX_VALUES} values in "in"`);
    return { kind: 'in', values: condition.in.map((value) => scalar(field, value)) };
  }
  if ('contains' in condition) return { kind: 'contains', value: scalar(field, condition.contains) };
  if ('ne' in condition) return { kind: 'not-equals', value: scalar(field, condition.ne) };
  const bounds = RANGE_OPERATORS.flatMap((operator) => {
    const value = condition[operator];
    return value === undefined ? [] : [{ operator, value: scalar(field, value) }];
  });
  if (bounds.length === 0) throw new TypeError(`${field}: a condition without an operator`);
  return { kind: 'range', bounds };
};

const scalar = (field: string, value: Scalar): Scalar => {
  const fine =
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value));
  if (!fine) throw new TypeError(`${field}: a condition needs a string, a finite number, a boolean or null`);
  return value;
};

/**
 * Refuses what no index serves (no silent scans) and what is malformed.
 * @throws MissingIndex, TypeError, RangeError
 */
export const checkQuery = (spec: CollectionSpec, query: Query): void => {
  const order = query.orderBy ?? [];
  if (!Number.isInteger(query.limit) || query.limit < 1 || query.limit > MAX_QUERY_LIMIT)
    throw new RangeError(`limit must be 1 to ${MAX_QUERY_LIMIT}`);
  if (new Set(order.map(({ field }) => field)).size !== order.length) throw new TypeError('a field is sorted by twice');
  const { after } = query;
  if (after !== undefined && (after.length !== order.length + 1 || typeof after.at(-1) !== 'string'))
    throw new TypeError('after needs one value for each sort field, then the id');
  checkIndexed(
    spec,
    query.where ?? {},
    order.map(({ field }) => field),
  );
};

/** The part of {@link checkQuery} that concerns indexes. */
export const checkIndexed = (spec: CollectionSpec, where: Where, order: readonly string[]): void => {
  const plain = spec.indexes.filter((index) => index.multi !== true);
  const covered = new Set(plain.flatMap((index) => index.fields));
  const multi = new Set(spec.indexes.filter((index) => index.multi === true).map(multiField));
  const leading = new Set(plain.map((index) => index.fields[0]));
  let served = Object.keys(where).length === 0 && order.length === 0;
  for (const [field, condition] of Object.entries(where)) {
    const { kind } = parseCondition(field, condition);
    if (kind === 'contains' ? !multi.has(field) : !covered.has(field))
      throw new MissingIndex(spec.name, field, `${kind === 'contains' ? 'a multi index' : 'an index'} over "${field}"`);
    served ||= kind === 'contains' || (kind !== 'not-equals' && leading.has(field));
  }
  for (const field of order)
    if (!covered.has(field)) throw new MissingIndex(spec.name, field, `an index over "${field}"`);
  served ||= leading.has(order[0]);
  const first = order[0] ?? Object.keys(where)[0] ?? '';
  if (!served) throw new MissingIndex(spec.name, first, `an index that starts with "${first}"`);
};

/** @throws TypeError, RangeError */
export const checkKey = (id: string, revision: number): void => {
  if (typeof id !== 'string' || id.length === 0 || id.length > MAX_ID_LENGTH || !id.isWellFormed())
    throw new TypeError(`a document id is 1 to ${MAX_ID_LENGTH} characters of well-formed text`);
  if (!Number.isSafeInteger(revision) || revision < 0) throw new RangeError('a revision is an integer from 0');
};

/** @throws RangeError */
export const checkPurgeLimit = (limit: number): void => {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PURGE)
    throw new RangeError(`limit must be 1 to ${MAX_PURGE}`);
};
