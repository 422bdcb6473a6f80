import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { SearchIndexUnusable, SearchUnavailable } from '../../port.ts';

/** Marks a file as a Bindery search index ("BNSI"). */
const APPLICATION_ID = 0x424e5349;
/** Tables and the way text becomes tokens; another one means feeding the index again. */
const FILE_VERSION = 1;
/** A page's key is the number of its space times this, plus its number within the space. */
export const PAGES_PER_SPACE = 2 ** 30;
const CACHED_STATEMENTS = 64;
const UNUSABLE = new Set([11, 24, 26]);

/*
 * `head` holds titles and headings, `full` everything: most searches are answered from the small one alone.
 * `exact` holds one token for the whole title. Prefixes up to 3 letters (4 in full) have lists of their own.
 * A number of a space is never used again: the words of a removed one may still be there until the batch ends.
 * The text itself is kept once, in `pages`; a page without a title is the guard of a removed one.
 */
const SCHEMA = `
  CREATE TABLE state(name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
  CREATE TABLE spaces(number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, organization TEXT NOT NULL);
  CREATE INDEX spaces_by_organization ON spaces(organization, id);
  CREATE TABLE pages(key INTEGER PRIMARY KEY, space INTEGER NOT NULL, page TEXT NOT NULL, revision INTEGER NOT NULL,
    title TEXT, path TEXT, ancestors TEXT, description TEXT, sections TEXT);
  CREATE UNIQUE INDEX pages_by_id ON pages(page, space);
  CREATE VIRTUAL TABLE head USING fts5(exact, title, headings, content='', contentless_delete=1, prefix='1 2 3', tokenize="ascii");
  CREATE VIRTUAL TABLE full USING fts5(title, headings, body, content='', contentless_delete=1, prefix='1 2 3 4', tokenize="ascii");
  INSERT INTO head(head, rank) VALUES('hashsize', 16000000);
  INSERT INTO full(full, rank) VALUES('hashsize', 32000000);
  INSERT INTO full(full, rank) VALUES('automerge', 8);
`;

/** A row as an array of its columns. */
export type Row = readonly (string | number | bigint | Uint8Array | null)[];

/** One connection to the index file, with its prepared statements and the errors of the port. */
export class Database {
  readonly path: string;
  readonly connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** @param create lay out an empty file */
  constructor(path: string, create: boolean) {
    this.path = path;
    this.connection = attempt(path, () => new DatabaseSync(path, { timeout: 1000 }));
    try {
      attempt(path, () => this.#prepareFile(create));
    } catch (error) {
      this.connection.close();
      throw error;
    }
  }

  run(sql: string, ...parameters: readonly SQLInputValue[]): number {
    return attempt(this.path, () => Number(this.#statement(sql).run(...parameters.map(asInteger)).changes));
  }

  first(sql: string, ...parameters: readonly SQLInputValue[]): Row | undefined {
    return this.all(sql, ...parameters)[0];
  }

  all(sql: string, ...parameters: readonly SQLInputValue[]): readonly Row[] {
    return attempt(this.path, () =>
      this.#statement(sql)
        .all(...parameters.map(asInteger))
        .map((row: unknown) => (Array.isArray(row) ? row : [])),
    );
  }

  close(): void {
    this.#statements.clear();
    if (this.connection.isOpen) this.connection.close();
  }

  #statement(sql: string): StatementSync {
    const cached = this.#statements.get(sql);
    if (cached !== undefined) return cached;
    if (this.#statements.size >= CACHED_STATEMENTS) this.#statements.clear();
    const statement = this.connection.prepare(sql);
    statement.setReturnArrays(true);
    this.#statements.set(sql, statement);
    return statement;
  }

  #prepareFile(create: boolean): void {
    const value = (sql: string): number => Number(Object.values(this.connection.prepare(sql).get() ?? {})[0]);
    const version = value('PRAGMA user_version');
    if (value('SELECT count(*) FROM sqlite_schema') > 0 || !create) {
      if (value('PRAGMA application_id') !== APPLICATION_ID)
        throw new SearchIndexUnusable(`${this.path} is no search index`);
      if (version !== FILE_VERSION)
        throw new SearchIndexUnusable(`${this.path} has layout ${version}, this version knows ${FILE_VERSION}`);
    }
    this.connection.exec(
      'PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=67108864; PRAGMA cache_size=-32768; PRAGMA temp_store=MEMORY',
    );
    if (version === FILE_VERSION) return;
    this.connection.exec(
      `BEGIN IMMEDIATE; ${SCHEMA} PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=${FILE_VERSION}; COMMIT`,
    );
  }
}

/** A number is bound as a float, which the full-text engine does not take for a key. */
const asInteger = (value: SQLInputValue): SQLInputValue =>
  typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;

/** Runs `work` with errors of the engine turned into those of the port. */
const attempt = <T>(path: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (typeof error !== 'object' || error === null || !('errcode' in error && 'message' in error)) throw error;
    const code = Number(error.errcode) & 0xff;
    if (UNUSABLE.has(code))
      throw new SearchIndexUnusable(
        `${path} is damaged or no search index (${String(error.message)}); remove it to feed it again`,
        { cause: error },
      );
    if (code === 1 || code === 20 || code === 21 || code === 25) throw error; // a mistake of ours
    throw new SearchUnavailable(`the search index cannot be used now: ${String(error.message)}`, { cause: error });
  }
};
