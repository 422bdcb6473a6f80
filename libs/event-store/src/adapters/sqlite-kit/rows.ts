import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

/** A prepared query whose rows are arrays (`R` is a tuple in the order of the columns): less work per row than objects. */
export interface Query<R extends readonly unknown[]> {
  /** All rows; the statement carries a LIMIT. Write it `LIMIT ?+0`: SQLite compiles a bare `LIMIT ?` anew for each value (10 µs). */
  all(...parameters: SQLInputValue[]): R[];
  first(...parameters: SQLInputValue[]): R | undefined;
}

/** Prepares a query. The caller states the row type; the schema (STRICT tables) guarantees it. */
export const prepareQuery = <R extends readonly unknown[]>(db: DatabaseSync, sql: string): Query<R> => {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return {
    all: (...parameters) => statement.all(...parameters) as unknown as R[],
    first: (...parameters) => statement.get(...parameters) as unknown as R | undefined,
  };
};
