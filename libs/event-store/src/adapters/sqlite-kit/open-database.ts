import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The file is not a database of the kind that was asked for, is damaged, or was written by a newer version. Never retry. */
export class DatabaseFileError extends Error {
  readonly code = 'sqlite.bad_file';
  readonly reason: 'damaged' | 'foreign' | 'newer';
  constructor(reason: DatabaseFileError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export interface DatabaseOptions {
  /** File; its folder is made when absent. `:memory:` keeps everything in memory, for tests. */
  readonly path: string;
  /** What the file is, in words for error messages, for example `event store`. */
  readonly kind: string;
  /** 32-bit mark written into the file header, so that another kind of file is refused. */
  readonly applicationId: number;
  /** SQL that leads from version n to n + 1; the file remembers how many were applied. */
  readonly migrations: readonly string[];
  /** How long a statement may block the thread for a lock of another process, in ms. Default 250. */
  readonly busyMs?: number;
}

const errcodeOf = (error: unknown): number | undefined => {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
};

/** Whether the database itself reported the error (rather than our code). */
export const isSqliteError = (error: unknown): boolean => errcodeOf(error) !== undefined;

/** Another connection holds the lock (SQLITE_BUSY, SQLITE_LOCKED): worth another try. */
export const isBusy = (error: unknown): boolean => {
  const code = errcodeOf(error);
  return code === 5 || code === 6;
};

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const isDamaged = (error: unknown): boolean => {
  const code = errcodeOf(error);
  return code === 11 || code === 26;
};

const numberOf = (db: DatabaseSync, sql: string): number => {
  const value = Object.values(db.prepare(sql).get() ?? {})[0];
  return typeof value === 'number' ? value : 0;
};

/** Refuses a file that is not ours, reading only. */
const checkFile = (db: DatabaseSync, { kind, path, applicationId, migrations }: DatabaseOptions): void => {
  const empty = numberOf(db, 'SELECT count(*) FROM sqlite_schema') === 0;
  if (!empty && numberOf(db, 'PRAGMA application_id') !== applicationId) {
    throw new DatabaseFileError('foreign', `${path} is a database, but not a Bindery ${kind}`);
  }
  const version = numberOf(db, 'PRAGMA user_version');
  if (version > migrations.length) {
    throw new DatabaseFileError(
      'newer',
      `${path} has schema version ${version} of a ${kind}, this version knows ${migrations.length}: upgrade first`,
    );
  }
};

const migrate = (db: DatabaseSync, options: DatabaseOptions): void => {
  const { applicationId, migrations } = options;
  const version = (): number => numberOf(db, 'PRAGMA user_version');
  if (version() === migrations.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    checkFile(db, options); // again under the lock: another process may have migrated meanwhile
    for (const sql of migrations.slice(version())) db.exec(sql);
    db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
};

/**
 * Opens or creates a durable database: write-ahead log, every commit fsync'ed, foreign keys on.
 * The log is folded back every 16 MB, which bounds both its size and the pause of that commit.
 * @throws DatabaseFileError
 */
export const openDatabase = (options: DatabaseOptions): DatabaseSync => {
  const { path, kind, busyMs = 250 } = options;
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
  const db = new DatabaseSync(path, { timeout: busyMs, enableForeignKeyConstraints: true });
  try {
    withRetry(() => checkFile(db, options)); // before anything is changed
    withRetry(() => db.exec('PRAGMA journal_mode = WAL'));
    db.exec('PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 33554432');
    db.exec('PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY');
    withRetry(() => migrate(db, options));
    return db;
  } catch (error) {
    db.close();
    if (isDamaged(error)) {
      throw new DatabaseFileError('damaged', `${path} is not a readable ${kind}: ${String(error)}`, { cause: error });
    }
    throw error;
  }
};

/** Switching to the write-ahead log ignores the busy timeout, so two processes that start together need a few tries. */
const withRetry = (action: () => void, tries = 20): void => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      action();
      return;
    } catch (error) {
      if (!isBusy(error) || attempt >= tries) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 25);
    }
  }
};
