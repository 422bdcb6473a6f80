import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Collection, type CollectionSpec, type ReadStore, ReadStoreUnavailable } from '../port.ts';
import { SqliteCollection } from './sqlite/collection.ts';
import { Database } from './sqlite/database.ts';
import { createTables, dropTables, layoutOf } from './sqlite/layout.ts';
import { Writer } from './sqlite/writer.ts';

/** Options of {@link openSqliteReadStore}. */
export interface SqliteReadStoreOptions {
  /** The database file; created, with its folder, when absent. Two processes may open the same file. */
  readonly path: string;
  /** How long writes wait for another process that holds the lock, in ms, default 5000. Then ReadStoreUnavailable. */
  readonly busyTimeoutMs?: number;
  /**
   * For what cannot be rebuilt from events (keys): writes are on disk when they resolve, a power cut loses none, and what
   * is removed is overwritten. Slower; default false.
   */
  readonly durable?: boolean;
}

/**
 * The read store of the embedded profile: JSON documents in SQLite, one table for each collection, version and
 * generation, with a column for each indexed field. A killed process loses nothing that was acknowledged; a power cut
 * at most the last writes, which the catch-up runner applies again.
 * @throws ReadStoreUnusable when the file is damaged, foreign or of a newer version
 * @throws ReadStoreUnavailable when it cannot be opened
 */
export const openSqliteReadStore = async (options: SqliteReadStoreOptions): Promise<ReadStore> => {
  try {
    mkdirSync(dirname(options.path), { recursive: true });
  } catch (cause) {
    throw new ReadStoreUnavailable(`the folder of ${options.path} cannot be created`, { cause });
  }
  return new SqliteReadStore(new Database(options.path, options.durable ?? false), options.busyTimeoutMs ?? 5000);
};

class SqliteReadStore implements ReadStore {
  readonly #database: Database;
  readonly #writer: Writer;
  readonly #own = new WeakSet<object>();

  constructor(database: Database, busyTimeoutMs: number) {
    this.#database = database;
    this.#writer = new Writer(database, busyTimeoutMs);
  }

  async collection<T>(spec: CollectionSpec, generation = 0): Promise<Collection<T>> {
    const layout = layoutOf(spec, generation);
    await this.#writer.run(() => createTables(this.#database, layout), true);
    const collection = new SqliteCollection<T>(this.#database, this.#writer, layout);
    this.#own.add(collection);
    return collection;
  }

  async batch(writes: Parameters<ReadStore['batch']>[0]): Promise<void> {
    const prepared = writes.map(({ collection, write }) => {
      if (!(collection instanceof SqliteCollection) || !this.#own.has(collection))
        throw new TypeError(`${collection.spec.name} was opened by another store`);
      return collection.prepare(write);
    });
    await this.#writer.run(() => {
      for (const apply of prepared) apply();
    }, true);
  }

  async drop(spec: CollectionSpec, generation: number): Promise<void> {
    const layout = layoutOf(spec, generation);
    await this.#writer.run(() => dropTables(this.#database, layout), true);
  }

  async close(): Promise<void> {
    await this.#writer.close();
    this.#database.close();
  }
}
