import type { SQLInputValue } from 'node:sqlite';
import { ReadStoreUnusable } from '../../errors.ts';
import {
  type Collection,
  type CollectionSpec,
  type Query,
  ReadStoreUnavailable,
  type Scalar,
  type Stored,
  UniqueViolation,
  type Where,
  type Write,
} from '../../port.ts';
import { checkIndexed, checkKey, checkPurgeLimit, checkQuery, MAX_VALUES } from '../../query-rules.ts';
import { constraintOf, type Database, type Row } from './database.ts';
import type { HotDocuments } from './hot-documents.ts';
import { encode, encodeElement, insertSql, type Layout } from './layout.ts';
import { NarrowUpdates } from './narrow-updates.ts';
import { pageRanges, whereClauses, whereSql } from './statements.ts';
import type { Writer } from './writer.ts';

const SCAN_PAGE = 500;
/** Longest page that is read by ids where documents are kept in memory. */
const MAX_BY_ID = 101;

/** Values of each `multi` index. */
type Elements = readonly (readonly Scalar[])[];

/** A collection in one table; see the port for what its methods promise. */
export class SqliteCollection<T> implements Collection<T> {
  readonly spec: CollectionSpec;
  readonly #database: Database;
  readonly #writer: Writer;
  readonly #layout: Layout;
  readonly #sql: ReturnType<typeof fixedStatements>;
  readonly #savepoint: boolean;
  readonly #hot: HotDocuments | undefined;
  readonly #narrow: NarrowUpdates;

  /** @param hot documents of this table in memory; undefined when other processes may write the file */
  constructor(database: Database, writer: Writer, layout: Layout, hot?: HotDocuments) {
    this.#hot = hot;
    this.spec = layout.spec;
    this.#database = database;
    this.#writer = writer;
    this.#layout = layout;
    this.#sql = fixedStatements(layout);
    this.#narrow = new NarrowUpdates(layout);
    this.#savepoint = layout.sides.some(({ unique }) => unique);
  }

  async get(id: string): Promise<Stored<T> | undefined> {
    return this.#read(id);
  }

  async getMany(ids: readonly string[]): Promise<ReadonlyMap<string, Stored<T>>> {
    if (ids.length > MAX_VALUES) throw new RangeError(`more than ${MAX_VALUES} ids`);
    const found = new Map<string, Stored<T>>();
    for (const id of new Set(ids)) {
      const stored = this.#read(id);
      if (stored !== undefined) found.set(id, stored);
    }
    return found;
  }

  async query(query: Query): Promise<readonly Stored<T>[]> {
    checkQuery(this.spec, query);
    const { order, ranges } = pageRanges(this.#layout, query);
    const rows: Row[] = [];
    // Short pages are mostly of documents that are in memory already: then only their ids are read.
    const byId = this.#hot !== undefined && query.limit <= MAX_BY_ID;
    const columns = byId ? 'id' : 'id, revision, document';
    const read = (): void => {
      for (const clauses of ranges) {
        const sql = `SELECT ${columns} FROM ${this.#layout.table}${whereSql(clauses)}${order} LIMIT ?`;
        rows.push(
          ...this.#database.all(sql, [...clauses.flatMap(({ parameters }) => parameters), query.limit - rows.length]),
        );
        if (rows.length >= query.limit) return;
      }
    };
    if (ranges.length > 1) this.#consistently(read);
    else read();
    if (!byId) return rows.map((row) => this.#stored(row));
    return rows.map(([id]) => this.#read(String(id))).filter((stored) => stored !== undefined);
  }

  async count(where: Where = {}): Promise<number> {
    if (Object.keys(where).length === 0) return Number(this.#database.first(this.#sql.countAll, [])?.[0]);
    checkIndexed(this.spec, where, []);
    const clauses = whereClauses(this.#layout, where);
    const sql = `SELECT count(*) FROM ${this.#layout.table}${whereSql(clauses)}`;
    return Number(
      this.#database.first(
        sql,
        clauses.flatMap(({ parameters }) => parameters),
      )?.[0],
    );
  }

  async *scan(signal?: AbortSignal): AsyncGenerator<Stored<T>> {
    let last = '';
    for (;;) {
      signal?.throwIfAborted();
      const rows = this.#database.all(this.#sql.scan, [last, SCAN_PAGE]);
      for (const row of rows) {
        signal?.throwIfAborted();
        yield this.#stored(row);
      }
      if (rows.length < SCAN_PAGE) return;
      last = String(rows.at(-1)?.[0]);
    }
  }

  async put(id: string, revision: number, document: T): Promise<boolean> {
    return this.#writer.run(this.prepare({ kind: 'put', id, revision, document }), this.#savepoint);
  }

  async remove(id: string, revision: number): Promise<boolean> {
    return this.#writer.run(this.prepare({ kind: 'remove', id, revision }), this.#savepoint);
  }

  async compareAndPut(id: string, expected: number, document: T): Promise<boolean> {
    checkKey(id, expected + 1);
    const row = this.#rowOf(id, expected + 1, document);
    const elements = this.#elementsOf(document);
    const work = (): boolean =>
      this.#changed(id, elements, () =>
        expected === -1
          ? this.#database.run(this.#sql.insertAbsent, row)
          : this.#database.run(this.#sql.replaceExact, [...row.slice(1), id, expected]),
      );
    return this.#writer.run(work, this.#savepoint);
  }

  async purge(where: Where, limit: number): Promise<number> {
    checkPurgeLimit(limit);
    checkIndexed(this.spec, where, []);
    const clauses = whereClauses(this.#layout, where);
    const select = `SELECT id FROM ${this.#layout.table}${whereSql(clauses)} LIMIT ?`;
    const parameters = [...clauses.flatMap(({ parameters: values }) => values), limit];
    return this.#writer.run(() => {
      const ids = this.#database.all(select, parameters).map(([id]) => String(id));
      for (const id of ids) {
        this.#hot?.forget(id);
        this.#database.run(this.#sql.erase, [id]);
        this.#indexElements(id, []);
      }
      return ids.length;
    }, true);
  }

  /** Checks and encodes a write now; the returned function applies it inside a transaction. */
  prepare(write: Write<T>): () => boolean {
    checkKey(write.id, write.revision);
    if (write.kind === 'remove') {
      const row = this.#tombstone(write.id, write.revision);
      return () => this.#changed(write.id, [], () => this.#database.run(this.#sql.putNewer, row));
    }
    const elements = this.#elementsOf(write.document);
    const row = this.#rowOf(write.id, write.revision, write.document);
    return () =>
      this.#changed(
        write.id,
        elements,
        () => this.#putNewer(row),
        () => this.#insert(row),
      );
  }

  /** For what is most likely new: no elements of it are there, which need not be looked for then. @returns whether it was new */
  #insert(row: readonly SQLInputValue[]): boolean {
    if (this.#layout.sides.length === 0 || this.#narrow.knows(row)) return false;
    if (this.#database.run(this.#sql.insertAbsent, row) === 0) return false;
    this.#narrow.remember(row);
    return true;
  }

  /** @returns how many rows it changed */
  #putNewer(row: readonly SQLInputValue[]): number {
    const update = this.#narrow.of(row);
    const changes =
      (update && this.#database.run(update.sql, update.parameters)) || this.#database.run(this.#sql.putNewer, row);
    if (changes > 0) this.#narrow.remember(row);
    return changes;
  }

  #read(id: string): Stored<T> | undefined {
    if (this.#database.closed) throw new ReadStoreUnavailable('the read store is closed');
    const hot = this.#hot?.get(id);
    if (hot !== undefined) return (hot ?? undefined) as Stored<T> | undefined;
    const row = this.#database.first(this.#sql.get, [id]);
    if (row === undefined) {
      this.#hot?.keepAbsent(id);
      return undefined;
    }
    const stored = this.#stored(row);
    this.#hot?.keep(stored, String(row[2]).length);
    return stored;
  }

  #changed(id: string, elements: Elements, write: () => number, insert?: () => boolean): boolean {
    this.#hot?.forget(id);
    try {
      if (insert?.() === true) this.#addElements(id, elements);
      else if (write() === 0) return false;
      else this.#indexElements(id, elements);
      return true;
    } catch (error) {
      const constraint = constraintOf(error);
      const index = constraint === undefined ? undefined : this.#layout.refusals.get(constraint);
      throw index === undefined ? error : new UniqueViolation(this.spec.name, index);
    }
  }

  #indexElements(id: string, elements: Elements): void {
    for (const { clear } of this.#sql.sides) this.#database.run(clear, [id]);
    this.#addElements(id, elements);
  }

  #addElements(id: string, elements: Elements): void {
    for (const [position, { add }] of this.#sql.sides.entries())
      for (const value of elements[position] ?? []) this.#database.run(add, [id, encodeElement(value)]);
  }

  /** Read at once: the caller may change the document before the transaction. */
  #elementsOf(document: T): Elements {
    return this.#layout.sides.map((side) => side.read(document));
  }

  #rowOf(id: string, revision: number, document: T): SQLInputValue[] {
    const text: string | undefined = JSON.stringify(document);
    if (text === undefined) throw new TypeError(`${this.spec.name}: a document must be JSON`);
    return [id, revision, text, ...this.#layout.readers.map((read) => encode(read(document)))];
  }

  #tombstone(id: string, revision: number): SQLInputValue[] {
    return [id, revision, null, ...this.#layout.readers.map(() => null)];
  }

  #stored([id, revision, text]: Row): Stored<T> {
    try {
      return { id: String(id), revision: Number(revision), document: JSON.parse(String(text)) };
    } catch (cause) {
      throw new ReadStoreUnusable(`${this.spec.name}: the document ${String(id)} is damaged`, { cause });
    }
  }

  /** Several statements that see the same state. */
  #consistently(read: () => void): void {
    this.#database.exec('BEGIN');
    try {
      read();
    } finally {
      this.#database.exec('COMMIT');
    }
  }
}

const fixedStatements = (layout: Layout) => {
  const { table } = layout;
  const columns = ['revision', 'document', ...layout.columns.values()];
  const insert = insertSql(layout);
  return {
    get: `SELECT id, revision, document FROM ${table} WHERE id = ? AND document IS NOT NULL`,
    scan: `SELECT id, revision, document FROM ${table} WHERE id > ? AND document IS NOT NULL ORDER BY id LIMIT ?`,
    countAll: `SELECT (SELECT count(*) FROM ${table}) - (SELECT count(*) FROM ${table} WHERE document IS NULL)`,
    putNewer: `${insert} ON CONFLICT(id) DO UPDATE SET ${columns.map((name) => `${name}=excluded.${name}`).join(',')}
      WHERE excluded.revision > ${table}.revision`,
    insertAbsent: `${insert} ON CONFLICT(id) DO NOTHING`,
    replaceExact: `UPDATE ${table} SET ${columns.map((name) => `${name}=?`).join(',')} WHERE id = ? AND revision = ?`,
    erase: `DELETE FROM ${table} WHERE id = ?`,
    sides: layout.sides.map((side) => ({
      clear: `DELETE FROM ${side.table} WHERE id = ?`,
      add: `INSERT INTO ${side.table} VALUES(?,?)`,
    })),
  };
};
