import { setTimeout as delay } from 'node:timers/promises';
import type { Db, IndexDescription, Collection as ServerCollection } from 'mongodb';
import { ReadStoreUnusable } from '../../errors.ts';
import { type CollectionSpec, type IndexSpec, ReadStoreUnavailable, UniqueViolation } from '../../port.ts';
import type { Connection } from './connection.ts';
import { storedOf } from './documents.ts';
import { decodeText } from './encode.ts';
import { isDuplicateKey, isIndexConflict, isNoCollection, isNoIndex, refusingIndex } from './errors.ts';
import { type Layout, layoutOf, type ServerIndex, type StoredDocument } from './layout.ts';

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
  /** Of `building`: indexes are being added to documents that others may be writing. */
  readonly adding?: boolean;
}

/** Rounds with others that change the same entry. */
const MAX_ROUNDS = 50;

/**
 * Opens the server's collection: creates what is missing, and indexes documents anew that were written before an index
 * was added. Indexes that this release does not know stay, since another release may run beside this one; a new version
 * or generation of the collection begins without them.
 * @param graceMs how long others who write may take to notice an index that is added here
 * @throws ReadStoreUnusable when a newer version wrote it
 * @throws UniqueViolation when documents that are there break a new unique index
 */
export const openLayout = async (
  connection: Connection,
  spec: CollectionSpec,
  generation: number,
  graceMs: number,
): Promise<Layout> => {
  const { name } = layoutOf(spec, generation);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const known = await entryOf(connection, name);
    if (known !== null && known.format > FORMAT) throw new ReadStoreUnusable(`${name} was written by a newer version`);
    if (known?.state === 'dropping') {
      await dropLayout(connection, spec, generation);
      continue;
    }
    const written = known === null ? spec.indexes : union(JSON.parse(known.indexes), spec.indexes);
    const layout = layoutOf(spec, generation, written);
    const indexes = JSON.stringify(written);
    if (known?.state === 'ready' && known.indexes === indexes) return layout;
    const adding = known !== null && (known.indexes !== indexes || known.adding === true);
    // Others may be at it with other indexes: whoever comes second goes on from what the first one has written.
    if (!(await replaced(connection, known, { _id: name, format: FORMAT, indexes, state: 'building', adding })))
      continue;
    if (adding) await delay(graceMs);
    await build(connection, layout);
    await settle(connection, name, indexes);
  }
  throw new ReadStoreUnavailable(`${name}: too many processes change its indexes`);
};

const build = (connection: Connection, layout: Layout): Promise<void> =>
  connection.maintain(async (database) => {
    const collection = database.collection<StoredDocument>(layout.name);
    await indexAnew(collection, layout);
    await createIndexes(connection, collection, layout);
  });

/** The indexes that documents of a collection are to be written for; undefined where nobody has said so. @throws ReadStoreUnavailable */
export const writtenIndexes = async (
  connection: Connection,
  name: string,
): Promise<readonly IndexSpec[] | undefined> => {
  const entry = await entryOf(connection, name);
  return entry === null || entry.state === 'dropping' || entry.format > FORMAT ? undefined : JSON.parse(entry.indexes);
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
  const { maxTimeMS } = connection;
  await connection.run(() =>
    registry(connection.database).updateOne({ _id }, { $set: fields }, { upsert: true, maxTimeMS }),
  );
};

/** Writes the entry unless it is no longer what it was. @returns whether it was written */
const replaced = async (connection: Connection, before: Entry | null, entry: Entry): Promise<boolean> => {
  const { maxTimeMS } = connection;
  const entries = registry(connection.database);
  if (before !== null) {
    const { _id, indexes, state } = before;
    const found = await connection.run(() => entries.replaceOne({ _id, indexes, state }, entry, { maxTimeMS }));
    return found.matchedCount === 1;
  }
  try {
    await connection.run(() => entries.insertOne(entry, { maxTimeMS }));
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
};

/** Unless others have begun to add more: then they, and whoever waits here, go on from there. */
const settle = async (connection: Connection, name: string, indexes: string): Promise<void> => {
  const { maxTimeMS } = connection;
  const built = { _id: name, indexes, state: 'building' } as const;
  await connection.run(() =>
    registry(connection.database).updateOne(built, { $set: { state: 'ready', adding: false } }, { maxTimeMS }),
  );
};

/**
 * The indexes that are there and those of the specification. One that has changed under its name stays under another one,
 * for the queries of the release that has it; but not a unique one, which both could not mean.
 */
const union = (there: readonly IndexSpec[], wanted: readonly IndexSpec[]): readonly IndexSpec[] => {
  const missing = wanted.filter((index) => !there.some((one) => serves(one, index)));
  if (missing.length === 0) return there;
  const taken = new Set([...missing, ...there].map(({ name }) => name.toLowerCase()));
  const changed = new Set(missing.map(({ name }) => name.toLowerCase()));
  const kept = there.flatMap((index) => {
    if (!changed.has(index.name.toLowerCase())) return [index];
    return index.unique === true ? [] : [{ ...index, name: freeName(index.name, taken) }];
  });
  return [...missing, ...kept];
};

const freeName = (name: string, taken: Set<string>): string => {
  for (let number = 1; ; number++) {
    const free = `${name} (before ${number})`;
    if (taken.has(free.toLowerCase())) continue;
    taken.add(free.toLowerCase());
    return free;
  }
};

/** Whether an index does what another one is for. Unique ones are known by their names, which refusals tell. */
const serves = (there: IndexSpec, wanted: IndexSpec): boolean =>
  there.fields.join('\0') === wanted.fields.join('\0') &&
  (there.multi ?? false) === (wanted.multi ?? false) &&
  (there.unique ?? false) === (wanted.unique ?? false) &&
  (wanted.unique !== true || there.name === wanted.name);

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

/**
 * The server refuses a second index of a name, and one with the key of another. Where copies are kept, a majority of the
 * members is enough: by default a member that is away would hold up the build, and with it the start, until it is back.
 */
const createIndexes = async (
  { deployment }: Connection,
  collection: ServerCollection<StoredDocument>,
  layout: Layout,
): Promise<void> => {
  const options = deployment === 'single' ? {} : { commitQuorum: 'majority' };
  for (let round = 1; ; round++) {
    const missing = await missingIndexes(collection, layout);
    if (missing.length === 0) return;
    try {
      await unlessRefused(layout, () => collection.createIndexes(missing, options));
      return;
    } catch (error) {
      // Another process has made one meanwhile.
      if (!isIndexConflict(error) || round === MAX_ROUNDS) throw error;
    }
  }
};

/** Those that are not there by their key. One that has the name of another is taken out of its way. */
const missingIndexes = async (
  collection: ServerCollection<StoredDocument>,
  layout: Layout,
): Promise<IndexDescription[]> => {
  if (layout.indexes.length === 0) return [];
  const keyOf = ({ key, unique }: Pick<ServerIndex, 'key' | 'unique'>): string => JSON.stringify([key, unique]);
  const wanted = new Map(layout.indexes.map((index) => [index.name, keyOf(index)]));
  const there = new Set<string>();
  for (const index of await indexesOf(collection)) {
    const outdated = wanted.has(index.name) && wanted.get(index.name) !== keyOf(index);
    if (outdated) await unlessGone(() => collection.dropIndex(index.name));
    else there.add(keyOf(index));
  }
  return layout.indexes
    .filter((index) => !there.has(keyOf(index)))
    .map(({ name, key, unique }) => ({ name, key, ...(unique ? { unique } : {}) }));
};

const indexesOf = async (collection: ServerCollection<StoredDocument>): Promise<readonly ServerIndex[]> => {
  try {
    return (await collection.indexes()).map(({ name, key, unique }) => ({
      name: name ?? '',
      key: Object.fromEntries(Object.entries(key).map(([path]) => [path, 1] as const)),
      unique: unique === true,
    }));
  } catch (error) {
    if (isNoCollection(error)) return [];
    throw error;
  }
};

/** Another replica may have dropped it. */
const unlessGone = async (drop: () => Promise<unknown>): Promise<void> => {
  try {
    await drop();
  } catch (error) {
    if (!isNoIndex(error)) throw error;
  }
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
