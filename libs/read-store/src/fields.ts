import type { IndexSpec, Scalar } from './port.ts';

/** Reads the indexed value(s) of a document. Every adapter indexes what these functions return, so queries agree. */
export type FieldReader<T> = (document: unknown) => T;

/**
 * Reader of a dotted field. Only own properties are followed. What is not a scalar (missing, object, array, number that
 * JSON cannot carry) indexes as null.
 */
export const scalarReader = (field: string): FieldReader<Scalar> => {
  const path = field.split('.');
  return (document) => {
    let value = document;
    for (const key of path) value = step(value, key);
    return scalarOf(value) ?? null;
  };
};

/**
 * Reader of a `multi` field: the distinct scalars of the array. Arrays on the way are followed into each element
 * (`reviewers.userId`); a lone scalar counts as an array of one.
 */
export const elementsReader = (field: string): FieldReader<readonly Scalar[]> => {
  const path = field.split('.');
  return (document) => {
    let values: unknown[] = [document];
    for (const key of path) values = values.flatMap((value) => asArray(step(value, key)));
    const scalars = values.map(scalarOf).filter((value) => value !== undefined);
    return [...new Set(scalars)];
  };
};

/** The field of a `multi` index. */
export const multiField = (index: IndexSpec): string => {
  const [field, ...rest] = index.fields;
  if (field === undefined || rest.length > 0) throw new TypeError(`${index.name}: a multi index has exactly one field`);
  return field;
};

const step = (value: unknown, key: string): unknown => {
  if (Array.isArray(value)) return value.flatMap((item) => asArray(step(item, key)));
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return Reflect.get(value, key);
};

const asArray = (value: unknown): unknown[] => (value === undefined ? [] : Array.isArray(value) ? value : [value]);

/** The scalar as JSON would carry it, or undefined when it is none. */
const scalarOf = (value: unknown): Scalar | undefined => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (value instanceof Date) return value.toJSON();
  return undefined;
};
