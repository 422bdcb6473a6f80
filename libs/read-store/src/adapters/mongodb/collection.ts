import type { Collection, CollectionSpec, Query, Stored, Where, Write } from '../../port.ts';
import { checkIndexed, checkPurgeLimit, checkQuery, MAX_VALUES } from '../../query-rules.ts';
import { Commands } from './commands.ts';
import type { Connection } from './connection.ts';
import { ROW, type Row, storedOf, storedOfAll } from './documents.ts';
import { encodeText } from './encode.ts';
import { type Filter, pageQuery, whereFilter } from './filters.ts';
import { GatheredReads } from './gathered.ts';
import type { LiveLayout } from './live-layout.ts';
import { type Prepared, prepare } from './prepared.ts';
import { rowsById } from './rows-by-id.ts';
import { Writing } from './writing.ts';

const SCAN_PAGE = 250;
/** Documents that are removed by one command. */
const PURGE_PAGE = 1000;

/** A collection of the server; see the port for what its methods promise. */
export class MongoCollection<T> implements Collection<T> {
  readonly spec: CollectionSpec;
  readonly #connection: Connection;
  readonly #live: LiveLayout;
  readonly #commands: Commands;
  readonly #writing: Writing;
  readonly #gathered: GatheredReads<Row>;

  constructor(connection: Connection, live: LiveLayout) {
    this.spec = live.current.spec;
    this.#connection = connection;
    this.#live = live;
    this.#commands = new Commands(connection, live);
    this.#writing = new Writing(this.#commands);
    this.#gathered = new GatheredReads((ids) => this.#rowsOf(ids));
  }

  async get(id: string): Promise<Stored<T> | undefined> {
    const row = await this.#connection.during(() => this.#gathered.get(encodeText(id)));
    return row === undefined ? undefined : storedOf<T>(this.spec, row);
  }

  async getMany(ids: readonly string[]): Promise<ReadonlyMap<string, Stored<T>>> {
    if (ids.length > MAX_VALUES) throw new RangeError(`more than ${MAX_VALUES} ids`);
    if (ids.length === 0) return new Map();
    const wanted = [...new Set(ids.map(encodeText))];
    const rows = await this.#find({ _id: { $in: wanted } }, {}, wanted.length);
    return new Map((await storedOfAll<T>(this.spec, rows)).map((stored) => [stored.id, stored]));
  }

  async query(query: Query): Promise<readonly Stored<T>[]> {
    checkQuery(this.spec, query);
    const asked = pageQuery(query);
    if (asked === undefined) return [];
    return storedOfAll<T>(this.spec, await this.#find(asked.filter, asked.sort, query.limit));
  }

  async count(where: Where = {}): Promise<number> {
    checkIndexed(this.spec, where, []);
    const filter = whereFilter(where);
    if (filter === undefined) return 0;
    const { maxTimeMS } = this.#connection;
    return this.#run(() => this.#rows.countDocuments(filter, { maxTimeMS }));
  }

  async *scan(signal?: AbortSignal): AsyncGenerator<Stored<T>> {
    for (let last = ''; ; ) {
      signal?.throwIfAborted();
      // Tombstones too: the index of ids alone gives the page in order.
      const rows = await this.#find({ _id: { $gt: last } }, { _id: 1 }, SCAN_PAGE);
      for (const row of rows) {
        signal?.throwIfAborted();
        const stored = await storedOf<T>(this.spec, row);
        if (stored !== undefined) yield stored;
      }
      if (rows.length < SCAN_PAGE) return;
      last = rows.at(-1)?._id ?? last;
    }
  }

  async put(id: string, revision: number, document: T): Promise<boolean> {
    const write = this.prepare({ kind: 'put', id, revision, document });
    return this.#run(() => this.#writing.put(write));
  }

  async remove(id: string, revision: number): Promise<boolean> {
    const write = this.prepare({ kind: 'remove', id, revision });
    return this.#run(() => this.#writing.put(write));
  }

  async compareAndPut(id: string, expected: number, document: T): Promise<boolean> {
    const write = this.prepare({ kind: 'put', id, revision: expected + 1, document });
    return this.#run(() => this.#commands.putExactly(write, expected));
  }

  async purge(where: Where, limit: number): Promise<number> {
    checkPurgeLimit(limit);
    checkIndexed(this.spec, where, []);
    const filter = whereFilter(where);
    return filter === undefined ? 0 : this.#connection.during(() => this.#purge(filter, limit));
  }

  /** Checks and encodes a write now. */
  prepare(write: Write<T>): Prepared {
    return prepare(this.#live, write);
  }

  /** Applies prepared writes of this collection, see {@link Writing.putAll}. */
  putAll(writes: readonly Prepared[]): Promise<void> {
    return this.#writing.putAll(writes);
  }

  async #purge(filter: Filter, limit: number): Promise<number> {
    const { maxTimeMS } = this.#connection;
    for (let removed = 0; ; ) {
      const page = Math.min(PURGE_PAGE, limit - removed);
      const rows = await this.#connection.run(() =>
        this.#rows.find(filter, { projection: { _id: 1 }, limit: page, maxTimeMS }).toArray(),
      );
      if (rows.length === 0) return removed;
      // Together with the condition: what was changed since stays.
      const chosen = { $and: [{ _id: { $in: rows.map(({ _id }) => _id) } }, filter] };
      removed += (await this.#connection.run(() => this.#rows.deleteMany(chosen, { maxTimeMS }))).deletedCount;
      if (removed >= limit || rows.length < page) return removed;
    }
  }

  #rowsOf(ids: readonly string[]): Promise<readonly Row[]> {
    const ordinary = (): Promise<readonly Row[]> => this.#rowsWhere({ _id: { $in: [...ids] } }, {}, ids.length);
    return this.#connection.run(() => rowsById(this.#connection, this.#live.current.name, ids, ordinary));
  }

  get #rows(): Commands['collection'] {
    return this.#commands.collection;
  }

  #find(filter: Filter, sort: Readonly<Record<string, 1 | -1>>, limit: number): Promise<readonly Row[]> {
    return this.#run(() => this.#rowsWhere(filter, sort, limit));
  }

  #rowsWhere(filter: Filter, sort: Readonly<Record<string, 1 | -1>>, limit: number): Promise<readonly Row[]> {
    const { maxTimeMS } = this.#connection;
    // An order that no index gives may need more memory than the server lends: by default only some versions then use files.
    const sorted = Object.keys(sort).length === 0 ? {} : { sort, allowDiskUse: true };
    return this.#rows.find(filter, { projection: ROW, ...sorted, limit, batchSize: limit, maxTimeMS }).toArray();
  }

  /** One answer within the budget, however many commands it takes. */
  #run<R>(command: () => Promise<R>): Promise<R> {
    return this.#connection.during(() => this.#connection.run(command));
  }
}
