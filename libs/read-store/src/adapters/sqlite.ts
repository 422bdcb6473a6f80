import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Collection, type CollectionSpec, type ReadStore, ReadStoreUnavailable } from '../port.ts';
import { SqliteCollection } from './sqlite/collection.ts';
import { Database } from './sqlite/database.ts';
import { HotDocuments } from './sqlite/hot-documents.ts';
import { createTables, dropTables, layoutOf } from './sqlite/layout.ts';
import { scrubFile } from './sqlite/scrub.ts';
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
  /**
   * Only this process writes the file, which its caller makes sure of: short documents that were read lately are then kept
   * in memory (frozen; at most 2,000 a collection). Default false.
   */
  readonly sole?: boolean;
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
  const database = new Database(options.path, options.durable ?? false);
  return new SqliteReadStore(database, options.busyTimeoutMs ?? 5000, options.sole ?? false);
};

class SqliteReadStore implements ReadStore {
  readonly #database: Database;
  readonly #writer: Writer;
  readonly #own = new WeakSet<object>();
  /** By table; undefined when other processes may write the file. */
  readonly #hot: Map<string, HotDocuments> | undefined;
  readonly #busyTimeoutMs: number;
  #nextScrub: Promise<void> | undefined;

  constructor(database: Database, busyTimeoutMs: number, sole: boolean) {
    this.#database = database;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#hot = sole ? new Map() : undefined;
    this.#writer = new Writer(database, busyTimeoutMs);
  }

  async collection<T>(spec: CollectionSpec, generation = 0): Promise<Collection<T>> {
    const layout = layoutOf(spec, generation);
    await this.#writer.run(() => createTables(this.#database, layout), true);
    const collection = new SqliteCollection<T>(this.#database, this.#writer, layout, this.#hotOf(layout.table));
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
    await this.#writer.run(() => {
      this.#hot?.get(layout.table)?.clear();
      dropTables(this.#database, layout);
    }, true);
  }

  /** What was removed before one begins, it removes; those that are asked for until then are one. */
  scrub(): Promise<void> {
    if (this.#nextScrub !== undefined) return this.#nextScrub;
    const { path } = this.#database;
    const scrub = this.#writer.alone(() => {
      this.#nextScrub = undefined;
      return scrubFile({ path, busyTimeoutMs: this.#busyTimeoutMs });
    });
    this.#nextScrub = scrub;
    return scrub;
  }

  #hotOf(table: string): HotDocuments | undefined {
    const known = this.#hot?.get(table);
    if (known !== undefined || this.#hot === undefined) return known;
    const made = new HotDocuments();
    this.#hot.set(table, made);
    return made;
  }

  async close(): Promise<void> {
    await this.#writer.close();
    this.#database.close();
  }
}
