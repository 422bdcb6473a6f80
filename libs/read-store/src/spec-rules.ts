import type { CollectionSpec } from './port.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/**
 * What every adapter asks of a specification, so that one that works on one engine works on all.
 * @throws TypeError when the specification cannot be laid out
 */
export const checkSpec = (spec: CollectionSpec, generation: number): void => {
  if (!NAME.test(spec.name)) throw new TypeError(`"${spec.name}" is no name for a collection`);
  if (!Number.isSafeInteger(spec.version) || !Number.isSafeInteger(generation) || spec.version < 0 || generation < 0)
    throw new TypeError(`${spec.name}: version and generation are integers from 0`);
  distinct(spec, plainFields(spec), 'fields');
  distinct(
    spec,
    spec.indexes.map((index) => index.name),
    'indexes',
  );
};

/** Every field of the indexes that are not `multi`, once. */
export const plainFields = (spec: CollectionSpec): readonly string[] => [
  ...new Set(spec.indexes.filter((index) => index.multi !== true).flatMap((index) => index.fields)),
];

/** Some engines ignore case in names. */
const distinct = (spec: CollectionSpec, names: readonly string[], what: string): void => {
  const folded = new Set(names.map((name) => name.toLowerCase()));
  if (folded.size !== names.length || names.some((name) => name.length === 0 || name.includes('\0')))
    throw new TypeError(`${spec.name}: names of ${what} must be there and differ in more than case`);
};
