import type { Db, Collection as ServerCollection } from 'mongodb';
import { ReadStoreUnusable } from '../../errors.ts';
import { type CollectionSpec, type IndexSpec, UniqueViolation } from '../../port.ts';
import type { Connection } from './connection.ts';
import { storedOf } from './documents.ts';
import { decodeText } from './encode.ts';
import { isDuplicateKey, isNoCollection, refusingIndex } from './errors.ts';
import { type Layout, layoutOf, type StoredDocument } from './layout.ts';

/** The server's collection that says how the others are laid out. */
const REGISTRY = '_layouts';
/** Form of the stored documents; a higher one was written by a newer version. */
const FORMAT = 1;
/** Documents that are indexed anew at a time. */
const PAGE = 200;

interface Entry {
  readonly _id: string;
  readonly format: number;
  /** The indexes as JSON. */
  readonly indexes: string;
  /** `building`: documents may lack index fields, indexes may be missing. `dropping`: to be removed. */
  readonly state: 'ready' | 'building' | 'dropping';
}

/**
 * Opens the server's collection: creates what is missing, and indexes documents anew that were written before an index
 * was added. Indexes that this release does not know stay, since another release may run beside this one; a new version
 * or generation of the collection begins without them.
 * @throws ReadStoreUnusable when a newer version wrote it
 * @throws UniqueViolation when documents that are there break a new unique index
 */
export const openLayout = async (connection: Connection, spec: CollectionSpec, generation: number): Promise<Layout> => {
  const name = layoutOf(spec, generation).name;
  const known = await entryOf(connection, name);
  if (known !== null && known.format > FORMAT) throw new ReadStoreUnusable(`${name} was written by a newer version`);
  if (known?.state === 'dropping') await dropLayout(connection, spec, generation);
  const before = known === null || known.state === 'dropping' ? undefined : known;
  const written = before === undefined ? spec.indexes : union(JSON.parse(before.indexes), spec.indexes);
  const layout = layoutOf(spec, generation, written);
  const indexes = JSON.stringify(written);
  if (before?.state === 'ready' && before.indexes === indexes) return layout;
  const entry: Omit<Entry, 'state'> = { _id: name, format: FORMAT, indexes };
  await write(connection, { ...entry, state: 'building' });
  await connection.maintain(async (database) => {
    const collection = database.collection<StoredDocument>(name);
    await indexAnew(collection, layout);
    await createIndexes(collection, layout);
  });
  await write(connection, { ...entry, state: 'ready' });
  return layout;
};

/** Drops one generation. When it is interrupted, the next one who opens or drops it finishes. */
export const dropLayout = async (connection: Connection, spec: CollectionSpec, generation: number): Promise<void> => {
  const { name } = layoutOf(spec, generation);
  await write(connection, { _id: name, format: FORMAT, indexes: '[]', state: 'dropping' });
  await connection.maintain(async (database) => {
    try {
      await database.collection(name).drop();
    } catch (error) {
      if (!isNoCollection(error)) throw error;
    }
  });
  await connection.run(() => registry(connection.database).deleteOne({ _id: name }));
};

/** Names of all collections of the store. */
export const collectionNames = async (connection: Connection): Promise<readonly string[]> => {
  const { maxTimeMS } = connection;
  const entries = await connection.run(() =>
    registry(connection.database)
      .find({}, { projection: { _id: 1 }, maxTimeMS })
      .toArray(),
  );
  return entries.map(({ _id }) => _id);
};

const registry = (database: Db): ServerCollection<Entry> => database.collection<Entry>(REGISTRY);

const entryOf = (connection: Connection, name: string): Promise<Entry | null> =>
  connection.run(() => registry(connection.database).findOne({ _id: name }, { maxTimeMS: connection.maxTimeMS }));

const write = async (connection: Connection, entry: Entry): Promise<void> => {
  const { _id, ...fields } = entry;
  await connection.run(() => registry(connection.database).updateOne({ _id }, { $set: fields }, { upsert: true }));
};

/** Those of the specification, then others that are there under other names. */
const union = (there: readonly IndexSpec[], wanted: readonly IndexSpec[]): readonly IndexSpec[] => {
  const same = there.length >= wanted.length && wanted.every((index) => there.some((one) => equal(one, index)));
  if (same) return there;
  const names = new Set(wanted.map(({ name }) => name));
  return [...wanted, ...there.filter(({ name }) => !names.has(name))];
};

const equal = (one: IndexSpec, other: IndexSpec): boolean =>
  one.name === other.name &&
  one.fields.join('\0') === other.fields.join('\0') &&
  one.unique === other.unique &&
  one.multi === other.multi;

/** Brings the index fields of every document up to date; who writes it meanwhile does so himself. */
const indexAnew = async (collection: ServerCollection<StoredDocument>, layout: Layout): Promise<void> => {
  for (let last = ''; ; ) {
    const rows = await collection
      .find({ _id: { $gt: last } })
      .sort({ _id: 1 })
      .limit(PAGE)
      .toArray();
    if (rows.length === 0) return;
    const operations = await Promise.all(
      rows.map(async (row) => {
        const stored = await storedOf(layout.spec, row);
        const fields =
          stored === undefined ? layout.exempt(decodeText(row._id)) : layout.fieldsOf(stored.id, stored.document);
        return { updateOne: { filter: { _id: row._id, r: row.r }, update: { $set: fields } } };
      }),
    );
    const changing = operations.filter(({ updateOne }) => Object.keys(updateOne.update.$set).length > 0);
    if (changing.length > 0) await unlessRefused(layout, () => collection.bulkWrite(changing, { ordered: false }));
    last = rows.at(-1)?._id ?? last;
  }
};

const createIndexes = async (collection: ServerCollection<StoredDocument>, layout: Layout): Promise<void> => {
  if (layout.indexes.length === 0) return;
  const there = new Map((await indexesOf(collection)).map(({ name, key }) => [name, JSON.stringify(key)]));
  for (const { name, key } of layout.indexes)
    if (there.has(name) && there.get(name) !== JSON.stringify(key)) await collection.dropIndex(name);
  const descriptions = layout.indexes.map(({ name, key, unique }) => ({ name, key, ...(unique ? { unique } : {}) }));
  await unlessRefused(layout, () => collection.createIndexes(descriptions));
};

const indexesOf = async (
  collection: ServerCollection<StoredDocument>,
): Promise<readonly { readonly name: string; readonly key: unknown }[]> => {
  const [exists] = await collection
    .find({}, { projection: { _id: 1 } })
    .limit(1)
    .toArray();
  if (exists === undefined) return [];
  return (await collection.indexes()).map(({ name, key }) => ({ name: name ?? '', key }));
};

const unlessRefused = async (layout: Layout, work: () => Promise<unknown>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const index = layout.uniqueIndex(refusingIndex(error.message) ?? '');
    throw index === undefined ? error : new UniqueViolation(layout.spec.name, index);
  }
};
