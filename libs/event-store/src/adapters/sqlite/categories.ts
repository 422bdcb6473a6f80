import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { prepareQuery, type Query } from '../sqlite-kit/index.ts';

export interface Category {
  readonly id: number;
  /** Every stream of the category starts with it. */
  readonly name: string;
}

/** Above this number, new streams fall into coarser categories, so that odd names cannot grow the list without bound. */
const MAX_FINE = 256;

const FINE = /^(?:[a-z]+[.-])*/;
const COARSE = /^[a-z]*\.?/;

/**
 * Groups streams by the words before their id: `content.change-request-` for `content.change-request-x1`. Only an aid for
 * finding events by prefix: any grouping is right as long as a category is a prefix of the names in it.
 */
export class Categories {
  readonly #byName: Query<[number]>;
  readonly #since: Query<[number, string]>;
  readonly #count: Query<[number]>;
  readonly #insert: StatementSync;
  #known: Category[] = [];

  constructor(db: DatabaseSync) {
    this.#byName = prepareQuery(db, 'SELECT id FROM categories WHERE name = ?');
    this.#since = prepareQuery(db, 'SELECT id, name FROM categories WHERE id > ? ORDER BY id');
    this.#count = prepareQuery(db, 'SELECT count(*) FROM categories');
    this.#insert = db.prepare('INSERT INTO categories (name) VALUES (?)');
  }

  /** Category of a new stream; call it inside the transaction that creates the stream. */
  idFor(stream: string): number {
    const fine = FINE.exec(stream)?.[0] ?? '';
    const existing = this.#byName.first(fine);
    if (existing) return existing[0];
    const [count] = this.#count.first() ?? [0];
    if (count < MAX_FINE) return Number(this.#insert.run(fine).lastInsertRowid);
    const name = count < 2 * MAX_FINE ? (COARSE.exec(stream)?.[0] ?? '') : '';
    return this.#byName.first(name)?.[0] ?? Number(this.#insert.run(name).lastInsertRowid);
  }

  /** All committed categories, those of other processes included. Call it outside a transaction. */
  list(): readonly Category[] {
    const added = this.#since.all(this.#known.at(-1)?.id ?? 0);
    if (added.length > 0) this.#known = [...this.#known, ...added.map(([id, name]) => ({ id, name }))];
    return this.#known;
  }
}

/** How to find the events of some prefixes. */
export interface FilterPlan {
  /** Categories to read. */
  readonly categories: readonly Category[];
  /** Every category of the store is among them. */
  readonly everyCategory: boolean;
  /** Whether each stream's name must still be checked, because a prefix ends inside a category. */
  readonly checkNames: boolean;
}

/** Works out which categories can hold streams that start with one of `prefixes`. */
export const planFilter = (all: readonly Category[], prefixes: readonly string[]): FilterPlan => {
  const whole = all.filter((category) => prefixes.some((prefix) => category.name.startsWith(prefix)));
  const part = all.filter(
    (category) => !whole.includes(category) && prefixes.some((prefix) => prefix.startsWith(category.name)),
  );
  const categories = [...whole, ...part];
  return { categories, everyCategory: categories.length === all.length, checkNames: part.length > 0 };
};
