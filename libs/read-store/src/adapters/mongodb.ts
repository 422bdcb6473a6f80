import type { Collection, CollectionSpec, ReadStore } from '../port.ts';
import { MongoCollection } from './mongodb/collection.ts';
import { Connection } from './mongodb/connection.ts';
import { LiveLayout, NOTICED_WITHIN_MS } from './mongodb/live-layout.ts';
import type { Prepared } from './mongodb/prepared.ts';
import { collectionNames, dropLayout, openLayout } from './mongodb/registry.ts';
import { compactAll } from './mongodb/scrub.ts';

/** Options of {@link openMongoReadStore}. */
export interface MongoReadStoreOptions {
  /** Address as the driver takes it: `mongodb://` or `mongodb+srv://`, with credentials and TLS where needed. */
  readonly url: string;
  /** Name of the database; several stores may share it, since names of collections begin with their service. Default `bindery`. */
  readonly database?: string;
  /** Longest that any operation takes, in ms, default 4000. Then ReadStoreUnavailable. */
  readonly timeoutMs?: number;
  /** Most connections to each server, default 50. */
  readonly maxConnections?: number;
  /**
   * For what cannot be rebuilt from events (keys): writes are in the journals of a majority when they resolve, however the
   * servers are configured. Default false: acknowledged by a majority.
   */
  readonly durable?: boolean;
  /**
   * How long adding an index to documents that are there waits for processes of older releases to notice it, in ms. Default
   * long enough for what they are about to write to have arrived.
   */
  readonly indexGraceMs?: number;
  /** What the server's logs and monitors call this client, default `bindery`. */
  readonly applicationName?: string;
}

/**
 * The read store of the distributed profile: documents as JSON text in MongoDB, one collection of the server for each
 * collection, version and generation, with the indexed fields beside the text. Every write is guarded by one atomic
 * command of one document, so that transactions, and a replica set, are not needed; where there is a replica set, writes
 * are acknowledged by a majority.
 * @throws TypeError when the address is malformed
 * @throws ReadStoreUnavailable when no server answers
 * @throws ReadStoreUnusable when the server is too old or no document database
 */
export const openMongoReadStore = async (options: MongoReadStoreOptions): Promise<ReadStore> => {
  const connection = new Connection({
    url: options.url,
    database: options.database ?? 'bindery',
    timeoutMs: options.timeoutMs ?? 4000,
    maxConnections: options.maxConnections ?? 50,
    durable: options.durable ?? false,
    applicationName: options.applicationName ?? 'bindery',
  });
  await connection.open();
  return new MongoReadStore(connection, options.indexGraceMs ?? NOTICED_WITHIN_MS + 2 * connection.maxTimeMS);
};

class MongoReadStore implements ReadStore {
  readonly #connection: Connection;
  readonly #own = new WeakSet<object>();

  readonly #indexGraceMs: number;

  constructor(connection: Connection, indexGraceMs: number) {
    this.#connection = connection;
    this.#indexGraceMs = indexGraceMs;
  }

  async collection<T>(spec: CollectionSpec, generation = 0): Promise<Collection<T>> {
    const layout = await this.#connection.during(() =>
      openLayout(this.#connection, spec, generation, this.#indexGraceMs),
    );
    const collection = new MongoCollection<T>(this.#connection, new LiveLayout(this.#connection, layout, generation));
    this.#own.add(collection);
    return collection;
  }

  async batch(writes: Parameters<ReadStore['batch']>[0]): Promise<void> {
    const prepared = writes.map(({ collection, write }) => {
      if (!(collection instanceof MongoCollection) || !this.#own.has(collection))
        throw new TypeError(`${collection.spec.name} was opened by another store`);
      return { collection, write: collection.prepare(write) };
    });
    await this.#connection.during(async () => {
      for (const [collection, group] of grouped(prepared)) await collection.putAll(group);
    });
  }

  async drop(spec: CollectionSpec, generation: number): Promise<void> {
    await this.#connection.during(() => dropLayout(this.#connection, spec, generation));
  }

  async scrub(): Promise<void> {
    await this.#connection.during(async () => compactAll(this.#connection, await collectionNames(this.#connection)));
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

type Step = { readonly collection: MongoCollection<unknown>; readonly write: Prepared };

/**
 * One group for each collection, in the order in which their last writes come; the writes at the end to one collection
 * (checkpoints) are a group of their own, so that all others are stored before.
 */
const grouped = (steps: readonly Step[]): readonly (readonly [MongoCollection<unknown>, readonly Prepared[]])[] => {
  const end = steps.at(-1)?.collection;
  const others = steps.slice(0, steps.findLastIndex(({ collection }) => collection !== end) + 1);
  const groups = new Map<MongoCollection<unknown>, Prepared[]>();
  for (const { collection, write } of others) {
    const group = groups.get(collection) ?? [];
    group.push(write);
    groups.delete(collection);
    groups.set(collection, group);
  }
  const last = steps.slice(others.length).map(({ write }) => write);
  return end === undefined ? [] : [...groups, [end, last]];
};
