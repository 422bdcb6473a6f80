import type { SQLInputValue } from 'node:sqlite';
import { elementsReader, type FieldReader, multiField, scalarReader } from '../../fields.ts';
import type { CollectionSpec, IndexSpec, Scalar } from '../../port.ts';
import { checkSpec, plainFields } from '../../spec-rules.ts';
import type { Database } from './database.ts';

const FALSE = new Uint8Array([0]);
const TRUE = new Uint8Array([1]);

/**
 * A value as it is stored in an index column. The columns have no type, so the engine orders null < numbers < text
 * (by code point) < blobs; booleans are one-byte blobs. That is the order of the document database too.
 */
export const encode = (value: Scalar): SQLInputValue => (typeof value === 'boolean' ? (value ? TRUE : FALSE) : value);

/** As {@link encode}, for the side tables, whose key cannot be null. */
export const encodeElement = (value: Scalar): SQLInputValue => (value === null ? new Uint8Array(0) : encode(value));

/** The tables of one generation of a collection. */
export interface Layout {
  readonly spec: CollectionSpec;
  readonly generation: number;
  /** Quoted name of the table. */
  readonly table: string;
  /** Quoted name of the column of each indexed field. */
  readonly columns: ReadonlyMap<string, string>;
  /** In the order of `columns`. */
  readonly readers: readonly FieldReader<Scalar>[];
  readonly sides: readonly Side[];
  /** Names of unique indexes by what the engine says when one refuses a row. */
  readonly refusals: ReadonlyMap<string, string>;
}

/** Side table of a `multi` index: one row for each element of the array. */
export interface Side {
  readonly field: string;
  readonly table: string;
  readonly unique: boolean;
  readonly read: FieldReader<readonly Scalar[]>;
}

/** @throws TypeError when the specification cannot be laid out */
export const layoutOf = (spec: CollectionSpec, generation: number): Layout => {
  checkSpec(spec, generation);
  const plain = spec.indexes.filter((index) => index.multi !== true);
  const fields = plainFields(spec);
  const name = tableName(spec, generation);
  const columns = new Map(fields.map((field) => [field, quote(`f:${field}`)]));
  const sides = spec.indexes.filter((index) => index.multi === true).map((index) => sideOf(name, index));
  const refusals = new Map<string, string>();
  for (const index of plain.filter(({ unique }) => unique === true))
    refusals.set(refusal(index.fields.map((field) => `${name}.f:${field}`)), index.name);
  for (const index of spec.indexes.filter(({ unique, multi }) => unique === true && multi === true))
    refusals.set(refusal([`${name}:m:${multiField(index)}.value`]), index.name);
  return { spec, generation, table: quote(name), columns, readers: fields.map(scalarReader), sides, refusals };
};

/** Creates the tables when absent, and lays them out anew when the indexes of the specification have changed. */
export const createTables = (database: Database, layout: Layout): void => {
  const { spec, generation } = layout;
  const key = [spec.name, spec.version, generation];
  const wanted = JSON.stringify(spec.indexes);
  const known = database.first('SELECT indexes FROM collections WHERE name=? AND version=? AND generation=?', key)?.[0];
  if (known === wanted) return;
  const old = quote(`${tableName(spec, generation)}:old`);
  if (known !== undefined) {
    dropSides(database, layout);
    database.exec(`ALTER TABLE ${layout.table} RENAME TO ${old}`);
    for (const row of database.all('SELECT name FROM sqlite_schema WHERE type=? AND tbl_name=? AND sql IS NOT NULL', [
      'index',
      `${tableName(spec, generation)}:old`,
    ]))
      database.exec(`DROP INDEX ${quote(String(row[0]))}`);
  }
  for (const statement of definitions(layout)) database.exec(statement);
  if (known !== undefined) {
    copyRows(database, layout, old);
    database.exec(`DROP TABLE ${old}`);
  }
  database.run('INSERT INTO collections VALUES(?,?,?,?) ON CONFLICT DO UPDATE SET indexes=excluded.indexes', [
    ...key,
    wanted,
  ]);
};

/** Drops the tables of one generation, if they exist. */
export const dropTables = (database: Database, layout: Layout): void => {
  const { spec, generation } = layout;
  dropSides(database, layout);
  database.exec(`DROP TABLE IF EXISTS ${layout.table}`);
  database.run('DELETE FROM collections WHERE name=? AND version=? AND generation=?', [
    spec.name,
    spec.version,
    generation,
  ]);
};

/** Statement and values that store a document's row; the id comes first, then revision, text and index columns. */
export const insertSql = (layout: Layout): string =>
  `INSERT INTO ${layout.table} VALUES(${Array.from({ length: layout.columns.size + 3 }, () => '?').join(',')})`;

const definitions = (layout: Layout): string[] => {
  const name = tableName(layout.spec, layout.generation);
  const columns = [
    'id TEXT NOT NULL PRIMARY KEY',
    'revision INTEGER NOT NULL',
    'document TEXT',
    ...layout.columns.values(),
  ];
  const index = (spec: IndexSpec): string => {
    const fields = spec.fields.map((field) => quote(`f:${field}`));
    // Rows with a null in a unique index never collide, as the port wants it.
    if (spec.unique === true)
      return `CREATE UNIQUE INDEX ${quote(`${name}:i:${spec.name}`)} ON ${layout.table}(${fields.join(',')})`;
    return `CREATE INDEX ${quote(`${name}:i:${spec.name}`)} ON ${layout.table}(${[...fields, 'id'].join(',')})`;
  };
  return [
    `CREATE TABLE ${layout.table}(${columns.join(',')})`,
    `CREATE INDEX ${quote(`${name}:tombstones`)} ON ${layout.table}(id) WHERE document IS NULL`,
    ...layout.spec.indexes.filter(({ multi }) => multi !== true).map(index),
    ...layout.sides.flatMap((side) => [
      `CREATE TABLE ${side.table}(id TEXT NOT NULL, value NOT NULL, PRIMARY KEY (id, value)) WITHOUT ROWID`,
      `CREATE ${side.unique ? 'UNIQUE ' : ''}INDEX ${quote(`${name}:e:${side.field}`)} ON ${side.table}(value${side.unique ? '' : ', id'})`,
    ]),
  ];
};

/** Fills a new layout from the documents of the old one, some hundred at a time. */
const copyRows = (database: Database, layout: Layout, from: string): void => {
  const insert = insertSql(layout);
  let last = '';
  for (;;) {
    const rows = database.all(`SELECT id, revision, document FROM ${from} WHERE id > ? ORDER BY id LIMIT 500`, [last]);
    for (const [id, revision, text] of rows) {
      const document: unknown = typeof text === 'string' ? JSON.parse(text) : undefined;
      database.run(insert, [
        id ?? null,
        revision ?? null,
        text ?? null,
        ...layout.readers.map((read) => encode(read(document))),
      ]);
      for (const side of layout.sides)
        for (const value of side.read(document))
          database.run(`INSERT INTO ${side.table} VALUES(?,?)`, [id ?? null, encodeElement(value)]);
      last = String(id);
    }
    if (rows.length === 0) return;
  }
};

const dropSides = (database: Database, layout: Layout): void => {
  const pattern = `${tableName(layout.spec, layout.generation)}:m:`;
  for (const [side] of database.all('SELECT name FROM sqlite_schema WHERE type=? AND substr(name,1,?)=?', [
    'table',
    pattern.length,
    pattern,
  ]))
    database.exec(`DROP TABLE ${quote(String(side))}`);
};

const sideOf = (name: string, index: IndexSpec): Side => {
  const field = multiField(index);
  const unique = index.unique === true;
  const elements = elementsReader(field);
  // Null is exempt from uniqueness.
  const read: Side['read'] = unique ? (document) => elements(document).filter((value) => value !== null) : elements;
  return { field, table: quote(`${name}:m:${field}`), unique, read };
};

const tableName = (spec: CollectionSpec, generation: number): string => `c:${spec.name}:${spec.version}:${generation}`;
const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const refusal = (columns: readonly string[]): string => `UNIQUE constraint failed: ${columns.join(', ')}`;
