import type { Condition, Query, Scalar, Stored, Where } from '@bindery/read-store';
import type { Sample } from './harness.ts';

/**
 * What every adapter must answer, computed the slow way. Order: null (or missing) < numbers < text by code point
 * < booleans; comparisons match values of the same type only.
 */
export const answer = (
  documents: readonly Stored<Sample>[],
  query: Omit<Query, 'limit' | 'after'>,
): readonly string[] => {
  const order = query.orderBy ?? [];
  const last = order.at(-1)?.direction ?? 'asc';
  return documents
    .filter(({ document }) => matches(document, query.where ?? {}))
    .toSorted((left, right) => {
      for (const { field, direction } of order) {
        const difference = compare(fieldOf(left.document, field), fieldOf(right.document, field));
        if (difference !== 0) return direction === 'asc' ? difference : -difference;
      }
      return last === 'asc' ? compare(left.id, right.id) : compare(right.id, left.id);
    })
    .map(({ id }) => id);
};

/** The keyset of a document: the values of the sort fields, then the id. */
export const keysetOf = (stored: Stored<Sample>, query: Pick<Query, 'orderBy'>): readonly Scalar[] => [
  ...(query.orderBy ?? []).map(({ field }) => fieldOf(stored.document, field)),
  stored.id,
];

const matches = (document: Sample, where: Where): boolean =>
  Object.entries(where).every(([field, condition]) => matchesOne(document, field, condition));

const matchesOne = (document: Sample, field: string, condition: Condition): boolean => {
  const value = fieldOf(document, field);
  if (typeof condition !== 'object' || condition === null) return compare(value, condition) === 0;
  if ('in' in condition) return condition.in.some((candidate) => compare(value, candidate) === 0);
  if ('ne' in condition) return compare(value, condition.ne) !== 0;
  if ('contains' in condition)
    return elementsOf(document, field).some((element) => compare(element, condition.contains) === 0);
  const holds = (bound: Scalar | undefined, test: (difference: number) => boolean): boolean =>
    bound === undefined || (rankOf(value) === rankOf(bound) && test(compare(value, bound)));
  return (
    holds(condition.gt, (difference) => difference > 0) &&
    holds(condition.gte, (difference) => difference >= 0) &&
    holds(condition.lt, (difference) => difference < 0) &&
    holds(condition.lte, (difference) => difference <= 0)
  );
};

const elementsOf = (document: Sample, field: string): readonly Scalar[] => {
  const [first = '', second] = field.split('.');
  const list = document[first];
  if (!Array.isArray(list)) return [];
  return second === undefined ? list : list.map((item: Sample) => scalarOf(item[second]));
};

const fieldOf = (document: Sample, field: string): Scalar => {
  let value: unknown = document;
  for (const key of field.split('.'))
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  return scalarOf(value);
};

const scalarOf = (value: unknown): Scalar =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;

const rankOf = (value: Scalar): number => ['object', 'number', 'string', 'boolean'].indexOf(typeof value);

/** Negative, 0 or positive. */
export const compare = (left: Scalar, right: Scalar): number => {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  if (typeof left === 'string' && typeof right === 'string')
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return rankOf(left) - rankOf(right);
};
