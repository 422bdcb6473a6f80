import type { Binary } from 'mongodb';
import { elementsReader, type FieldReader, multiField, scalarReader } from '../../fields.ts';
import type { CollectionSpec, IndexSpec, Scalar } from '../../port.ts';
import { checkSpec, plainFields } from '../../spec-rules.ts';
import { encode, encodeKey, encodeText } from './encode.ts';

/** A document as the server has it. Tombstones have only `_id`, `r` and `u`. */
export interface StoredDocument {
  /** The id, see `encodeText`. */
  readonly _id: string;
  /** The revision. */
  readonly r: number;
  /** 1: alive. First in every index, so that tombstones are in nobody's way. */
  readonly l?: 1;
  /**
   * The document as JSON text, compressed when long. As text, since keys of foreign documents (`$ref`, `a.b`) do not
   * survive everywhere, and so that it comes back as it was.
   */
  readonly d?: string | Binary;
  /** The encoded value of each field of the plain indexes. */
  readonly k?: Readonly<Record<string, string>>;
  /** The encoded values of each field of the `multi` indexes. */
  readonly m?: Readonly<Record<string, readonly string[]>>;
  /**
   * The key of each unique index. Who is exempt from one (something missing or null, tombstones) has a key that nobody
   * else can have, because not every server knows indexes that leave documents out.
   */
  readonly u?: Readonly<Record<string, string | readonly string[]>>;
}

/** An index as the server is told. */
export interface ServerIndex {
  readonly name: string;
  readonly key: Readonly<Record<string, 1>>;
  readonly unique: boolean;
}

/** How the documents of a collection are stored. */
export interface Layout {
  readonly spec: CollectionSpec;
  /** Name of the server's collection. */
  readonly name: string;
  readonly indexes: readonly ServerIndex[];
  /** What the stored documents are prepared for: the indexes of the specification, and perhaps some of other releases. */
  readonly written: readonly IndexSpec[];
  /** The index fields of a live document. */
  fieldsOf(id: string, document: unknown): Pick<StoredDocument, 'k' | 'm' | 'u'>;
  /** The unique keys of a tombstone. */
  exempt(id: string): Pick<StoredDocument, 'u'>;
  /** The index of the specification whose server index has this name, when it is a unique one. */
  uniqueIndex(serverName: string): string | undefined;
  /** The unique index of the specification with this key of `u`. */
  uniqueIndexOf(key: string): string | undefined;
}

/** `<collection>.v<version>`, and `.g<generation>` for all but the first. */
export const collectionName = (spec: CollectionSpec, generation: number): string =>
  `${spec.name}.v${spec.version}${generation === 0 ? '' : `.g${generation}`}`;

/** Path of an index field in the stored document. */
export const fieldPath = (field: string): string => `k.${encodeKey(field)}`;
/** Path of the field of a `multi` index in the stored document. */
export const multiPath = (field: string): string => `m.${encodeKey(field)}`;

const UNIQUE_PREFIX = 'unique:';

/**
 * @param written the indexes that the stored documents are prepared for: those of the specification, and perhaps some
 *   of another release that runs beside this one
 * @throws TypeError when the specification cannot be laid out
 */
export const layoutOf = (
  spec: CollectionSpec,
  generation: number,
  written: readonly IndexSpec[] = spec.indexes,
): Layout => {
  checkSpec(spec, generation);
  const all = { ...spec, indexes: written };
  checkSpec(all, generation);
  const plain = plainFields(all).map((field) => ({ key: encodeKey(field), read: scalarReader(field) }));
  const multi = [...new Set(written.filter((index) => index.multi === true).map(multiField))].map((field) => ({
    key: encodeKey(field),
    read: elementsReader(field),
  }));
  const unique = written.filter((index) => index.unique === true).map(uniqueOf);
  const names = new Map(unique.map(({ name }) => [`${UNIQUE_PREFIX}${name}`, name]));
  const exempt = (id: string): Pick<StoredDocument, 'u'> =>
    unique.length === 0 ? {} : { u: record(unique.map(({ key }) => [key, own(id)])) };
  return {
    spec,
    name: collectionName(spec, generation),
    indexes: serverIndexes(written),
    written,
    fieldsOf: (id, document) => ({
      ...(plain.length > 0 ? { k: record(plain.map(({ key, read }) => [key, encode(read(document))])) } : {}),
      ...(multi.length > 0 ? { m: record(multi.map(({ key, read }) => [key, read(document).map(encode)])) } : {}),
      ...(unique.length > 0 ? { u: record(unique.map(({ key, keyOf }) => [key, keyOf(document) ?? own(id)])) } : {}),
    }),
    exempt,
    uniqueIndex: (serverName) => names.get(serverName),
    uniqueIndexOf: (key) => unique.find((one) => one.key === key)?.name,
  };
};

/**
 * Every index ends with the id, the last tie-breaker of every order. The server refuses two with the same key.
 */
const serverIndexes = (indexes: readonly IndexSpec[]): readonly ServerIndex[] => {
  const ordered = indexes.map((index) => {
    const fields = index.multi === true ? [multiPath(multiField(index))] : index.fields.map(fieldPath);
    return { name: `by:${index.name}`, key: keyOf(['l', ...fields, '_id']), unique: false };
  });
  const unique = indexes
    .filter((index) => index.unique === true)
    .map(({ name }) => ({ name: `${UNIQUE_PREFIX}${name}`, key: keyOf([`u.${encodeKey(name)}`]), unique: true }));
  const byKey = new Map([...ordered, ...unique].toReversed().map((index) => [JSON.stringify(index.key), index]));
  return [...byKey.values()].toReversed();
};

const keyOf = (paths: readonly string[]): Readonly<Record<string, 1>> => record(paths.map((path) => [path, 1]));

interface Unique {
  readonly name: string;
  readonly key: string;
  /** undefined: exempt. */
  readonly keyOf: FieldReader<string | readonly string[] | undefined>;
}

const uniqueOf = (index: IndexSpec): Unique => {
  const { name } = index;
  const key = encodeKey(name);
  if (index.multi === true) {
    const elements = elementsReader(multiField(index));
    return {
      name,
      key,
      keyOf: (document) => {
        const values = elements(document).filter(isPresent);
        return values.length === 0 ? undefined : values.map((value) => uniqueKey([value]));
      },
    };
  }
  const readers = index.fields.map(scalarReader);
  return {
    name,
    key,
    keyOf: (document) => {
      const values = readers.map((read) => read(document));
      return values.every(isPresent) ? uniqueKey(values) : undefined;
    },
  };
};

const isPresent = (value: Scalar): boolean => value !== null;
const uniqueKey = (values: readonly Scalar[]): string => JSON.stringify(values.map(encode));
/** No {@link uniqueKey} begins so. */
const own = (id: string): string => `=${encodeText(id)}`;

/** Every name is an ordinary own property, `__proto__` too. */
const record = <T>(entries: readonly (readonly [string, T])[]): Record<string, T> => Object.fromEntries(entries);
