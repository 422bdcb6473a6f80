import type { SQLInputValue } from 'node:sqlite';
import type { Layout } from './layout.ts';

/** Rows whose index values are remembered, and statements. */
const MAX_ROWS = 1000;
const MAX_STATEMENTS = 64;

/** An update of a row that exists. */
export interface NarrowUpdate {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

/**
 * The engine writes every index whose columns an update names, also where the value stays: a document that changes in one field
 * would cost all pages of all indexes. So an update names only what differs from what was last written here, on condition that the
 * rest is in the row as remembered. What is remembered decides only whether that is tried; where it is wrong, no row is changed.
 */
export class NarrowUpdates {
  readonly #table: string;
  readonly #columns: readonly string[];
  /** Always true; the engine refuses it, as it does a row, once another release has laid the table out with further columns. */
  readonly #sameColumns: string;
  /** Index values by id, those written last behind. */
  readonly #rows = new Map<string, readonly SQLInputValue[]>();
  readonly #statements = new Map<string, string>();

  constructor(layout: Pick<Layout, 'table' | 'columns'>) {
    this.#table = layout.table;
    this.#columns = [...layout.columns.values()];
    const nothing = Array.from({ length: this.#columns.length + 3 }, () => 'NULL').join(',');
    this.#sameColumns = `NOT EXISTS (SELECT * FROM ${this.#table} WHERE 0 UNION ALL SELECT ${nothing} WHERE 0)`;
  }

  /**
   * @param row id, revision, text and index values
   * @returns undefined when nothing is known of the row, or all its index values change
   */
  of(row: readonly SQLInputValue[]): NarrowUpdate | undefined {
    const [id = null, revision = null, text = null, ...values] = row;
    const before = this.#rows.get(String(id));
    if (before === undefined || values.length === 0) return undefined;
    const changed = values.map((value, index) => value !== before[index]);
    if (!changed.includes(false)) return undefined;
    const differing = values.filter((_, index) => changed[index] === true);
    const same = values.filter((_, index) => changed[index] === false);
    return {
      sql: this.#statement(changed),
      parameters: [revision, text, ...differing, id, revision, ...same],
    };
  }

  /** Whether it was written here lately. */
  knows([id]: readonly SQLInputValue[]): boolean {
    return this.#rows.has(String(id));
  }

  /** A row was written. */
  remember([id, _revision, _text, ...values]: readonly SQLInputValue[]): void {
    const key = String(id);
    this.#rows.delete(key);
    this.#rows.set(key, values);
    if (this.#rows.size <= MAX_ROWS) return;
    const [oldest] = this.#rows.keys();
    if (oldest !== undefined) this.#rows.delete(oldest);
  }

  #statement(changed: readonly boolean[]): string {
    const key = changed.join();
    const known = this.#statements.get(key);
    if (known !== undefined) return known;
    const sets = this.#columns.filter((_, index) => changed[index] === true).map((name) => `${name}=?`);
    const kept = this.#columns.filter((_, index) => changed[index] === false).map((name) => ` AND ${name} IS ?`);
    const sql = `UPDATE ${this.#table} SET ${['revision=?', 'document=?', ...sets].join(',')}
      WHERE id = ? AND revision < ? AND document IS NOT NULL${kept.join('')} AND ${this.#sameColumns}`;
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
    this.#statements.set(key, sql);
    return sql;
  }
}
