import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { ReadStoreUnusable } from '../../errors.ts';
import { ReadStoreUnavailable } from '../../port.ts';

/** Marks a file as a Bindery read store ("BNRS"). */
const APPLICATION_ID = 0x424e5253;
/** Layout of the file itself (the registry of collections). */
const FILE_VERSION = 1;
const CACHED_STATEMENTS = 256;
/** How long one call may block the thread for another process; longer waits happen between turns. */
const BLOCKING_WAIT_MS = 100;
// Result codes of the engine: https://sqlite.org/rescode.html
const BUSY = new Set([5, 6]);
const CONSTRAINT = 19;
const UNUSABLE = new Set([11, 24, 26]);
const UNAVAILABLE = new Set([5, 6, 7, 8, 10, 13, 14, 15]);

/** A row as an array of its columns. */
export type Row = readonly (string | number | bigint | Uint8Array | null)[];

/** One connection with a bounded cache of prepared statements and the errors of the port. */
export class Database {
  readonly path: string;
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #closed = false;

  /** @param durable whether a write survives a power cut and a removal overwrites what was there */
  constructor(path: string, durable = false) {
    this.path = path;
    try {
      this.#connection = new DatabaseSync(path, { timeout: BLOCKING_WAIT_MS });
    } catch (error) {
      throw translate(error, path);
    }
    try {
      this.#prepareFile(durable);
    } catch (error) {
      this.#connection.close();
      throw translate(error, path);
    }
  }

  get closed(): boolean {
    return this.#closed;
  }

  get inTransaction(): boolean {
    return this.#connection.isTransaction;
  }

  /** Runs statements without results. */
  exec(sql: string): void {
    this.#guard(() => this.#connection.exec(sql));
  }

  /** Runs one statement; returns how many rows it changed. */
  run(sql: string, parameters: readonly SQLInputValue[]): number {
    return this.#guard(() => Number(this.#statement(sql).run(...parameters).changes));
  }

  /** The first row. */
  first(sql: string, parameters: readonly SQLInputValue[]): Row | undefined {
    return this.#guard(() => asRow(this.#statement(sql).get(...parameters)));
  }

  /** All rows; the statement bounds them. */
  all(sql: string, parameters: readonly SQLInputValue[]): readonly Row[] {
    return this.#guard(() =>
      this.#statement(sql)
        .all(...parameters)
        .map(asRow)
        .filter((row) => row !== undefined),
    );
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#statements.clear();
    this.#connection.close();
  }

  #guard<T>(work: () => T): T {
    if (this.#closed) throw new ReadStoreUnavailable('the read store is closed');
    try {
      return work();
    } catch (error) {
      throw translate(error, this.path);
    }
  }

  #statement(sql: string): StatementSync {
    const cached = this.#statements.get(sql);
    if (cached !== undefined) {
      this.#statements.delete(sql);
      this.#statements.set(sql, cached);
      return cached;
    }
    const statement = this.#connection.prepare(sql);
    statement.setReturnArrays(true);
    this.#statements.set(sql, statement);
    if (this.#statements.size > CACHED_STATEMENTS) {
      const [oldest] = this.#statements.keys();
      if (oldest !== undefined) this.#statements.delete(oldest);
    }
    return statement;
  }

  #prepareFile(durable: boolean): void {
    const pragma = (name: string): number =>
      Number(Object.values(this.#connection.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
    const tables = (): number =>
      Number(Object.values(this.#connection.prepare('SELECT count(*) FROM sqlite_schema').get() ?? {})[0]);
    if (pragma('application_id') !== APPLICATION_ID && tables() > 0)
      throw new ReadStoreUnusable(`${this.path} is a database of something else, not a read store`);
    if (pragma('user_version') > FILE_VERSION)
      throw new ReadStoreUnusable(
        `${this.path} was written by a newer version (layout ${pragma('user_version')}, this one knows ${FILE_VERSION})`,
      );
    // NORMAL: a killed process loses nothing, a power cut at most the last writes, which the runner applies again.
    this.#connection.exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=${durable ? 'FULL' : 'NORMAL'};
      PRAGMA secure_delete=${durable ? 'ON' : 'OFF'}; PRAGMA journal_size_limit=67108864; PRAGMA wal_autocheckpoint=4000;
      PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY`);
    if (pragma('user_version') === FILE_VERSION) return;
    this.#connection.exec(`BEGIN IMMEDIATE;
      PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=${FILE_VERSION};
      CREATE TABLE IF NOT EXISTS collections(
        name TEXT NOT NULL, version INTEGER NOT NULL, generation INTEGER NOT NULL, indexes TEXT NOT NULL,
        PRIMARY KEY (name, version, generation)) WITHOUT ROWID;
      COMMIT`);
  }
}

/** True when another connection holds the lock: worth trying again. */
export const isBusy = (error: unknown): boolean =>
  error instanceof ReadStoreUnavailable && BUSY.has(engineErrorOf(error.cause)?.code ?? 0);

/** Text of a refused unique constraint, or undefined when the error is another one. */
export const constraintOf = (error: unknown): string | undefined => {
  const engineError = engineErrorOf(error);
  return engineError?.code === CONSTRAINT ? engineError.message : undefined;
};

const asRow = (row: unknown): Row | undefined => (Array.isArray(row) ? row : undefined);

/** Primary result code (extended codes carry it in the low byte) and text of an error of the engine. */
const engineErrorOf = (error: unknown): { readonly code: number; readonly message: string } | undefined => {
  if (typeof error !== 'object' || error === null || !('errcode' in error && 'message' in error)) return undefined;
  return { code: Number(error.errcode) & 0xff, message: String(error.message) };
};

const translate = (error: unknown, path: string): unknown => {
  const engineError = engineErrorOf(error);
  if (engineError === undefined) return error;
  const { code, message } = engineError;
  if (UNUSABLE.has(code))
    return new ReadStoreUnusable(`${path} is damaged or no read store (${message}); remove it to rebuild it`, {
      cause: error,
    });
  if (UNAVAILABLE.has(code))
    return new ReadStoreUnavailable(`the read store cannot be used now: ${message}`, { cause: error });
  return error;
};
