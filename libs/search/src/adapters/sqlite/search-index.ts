import { copyFile, rename, rm, stat } from 'node:fs/promises';
import { backup } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import {
  type SearchChange,
  type SearchHit,
  type SearchIndex,
  type SearchPage,
  type SearchRequest,
  type SearchStats,
  SearchUnavailable,
} from '../../port.ts';
import { termsOf } from '../../text/query.ts';
import { addWords, applyChange, forgetWords, type WordChanges } from './changes.ts';
import { Database } from './database.ts';
import { hitsOf } from './hits.ts';
import { rankPages } from './ranking.ts';

/** Changes between two turns of the event loop. */
const SLICE = 20;
/** Calls of `apply` that may wait for one another. */
const MAX_WAITING = 1000;
const MAX_LIMIT = 1001;

/** See `openSqliteSearchIndex`. Searches have a connection of their own, so they see whole transactions only. */
export class SqliteSearchIndex implements SearchIndex {
  readonly #path: string;
  #writing: Database;
  #reading: Database;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #closed = false;

  constructor(path: string) {
    this.#path = path;
    this.#writing = new Database(path, true);
    this.#reading = new Database(path, false);
  }

  apply(changes: readonly SearchChange[], position?: string): Promise<void> {
    return this.#exclusively(async () => {
      this.#writing.run('BEGIN IMMEDIATE');
      try {
        await this.#applyAll(changes);
        if (position !== undefined)
          this.#writing.run(
            `INSERT INTO state VALUES('position', ?) ON CONFLICT DO UPDATE SET value=excluded.value`,
            position,
          );
        this.#writing.run('COMMIT');
      } catch (error) {
        if (this.#writing.connection.isTransaction) this.#writing.run('ROLLBACK');
        throw error;
      }
    });
  }

  async #applyAll(changes: readonly SearchChange[]): Promise<void> {
    const words: WordChanges = { stale: new Set(), fresh: new Map() };
    await inSlices(changes, (change) => applyChange(this.#writing, words, change));
    await inSlices(words.stale, (key) => forgetWords(this.#writing, key));
    const growing = [...words.fresh].toSorted(([left], [right]) => left - right);
    await inSlices(growing, ([key, page]) => addWords(this.#writing, key, page));
  }

  put(pages: readonly SearchPage[], position?: string): Promise<void> {
    return this.apply(
      pages.map((page) => ({ kind: 'put', page })),
      position,
    );
  }

  removePage(spaceId: string, pageId: string, revision: number, position?: string): Promise<void> {
    return this.apply([{ kind: 'remove-page', spaceId, pageId, revision }], position);
  }

  removeSpace(spaceId: string, position?: string): Promise<void> {
    return this.apply([{ kind: 'remove-space', spaceId }], position);
  }

  async position(): Promise<string | undefined> {
    const value = this.#open().first(`SELECT value FROM state WHERE name='position'`)?.[0];
    return typeof value === 'string' ? value : undefined;
  }

  async search(request: SearchRequest): Promise<readonly SearchHit[]> {
    const database = this.#open();
    const { query, spaces: scope, limit, after } = request;
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
      throw new RangeError(`limit must be 1 to ${MAX_LIMIT}`);
    const terms = termsOf(query);
    const ranked = rankPages(database, { query, terms, scope, limit, ...(after === undefined ? {} : { after }) });
    return hitsOf(database, ranked, terms);
  }

  snapshot(path: string): Promise<void> {
    return this.#exclusively(async () => {
      const unfinished = `${path}.unfinished`;
      try {
        await backup(this.#writing.connection, unfinished, { rate: 1000 });
        await rename(unfinished, path);
      } catch (cause) {
        await rm(unfinished, { force: true });
        throw new SearchUnavailable(`the snapshot ${path} cannot be written`, { cause });
      }
    });
  }

  restore(path: string): Promise<void> {
    return this.#exclusively(async () => {
      const copy = `${this.#path}.restoring`;
      try {
        await copyFile(path, copy);
        // Refuses what is no index before the present one is given up.
        new Database(copy, false).close();
        this.#reading.close();
        this.#writing.close();
        await rename(copy, this.#path);
      } catch (error) {
        for (const end of ['', '-wal', '-shm']) await rm(copy + end, { force: true });
        throw error;
      } finally {
        if (!this.#writing.connection.isOpen) {
          this.#writing = new Database(this.#path, true);
          this.#reading = new Database(this.#path, false);
        }
      }
    });
  }

  async stats(): Promise<SearchStats> {
    const row = this.#open().first(
      'SELECT (SELECT count(*) FROM spaces), (SELECT count(*) FROM pages WHERE title IS NOT NULL)',
    );
    const { size } = await stat(this.#path);
    return { spaces: Number(row?.[0]), pages: Number(row?.[1]), bytes: size };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#last;
    this.#reading.close();
    this.#writing.close();
  }

  #open(): Database {
    if (this.#closed) throw new SearchUnavailable('the search index is closed');
    return this.#reading;
  }

  /** One writer at a time, in the order of the calls. */
  async #exclusively(work: () => Promise<void>): Promise<void> {
    this.#open();
    if (this.#waiting >= MAX_WAITING) throw new SearchUnavailable('too many changes are waiting');
    this.#waiting += 1;
    const turn = this.#last.then(work);
    this.#last = turn.then(ignore, ignore);
    try {
      await turn;
    } finally {
      this.#waiting -= 1;
    }
  }
}

/** The next one in the queue does not depend on how this one ended; its own caller hears of it. */
const ignore = (): void => undefined;

/** Lets other work of the process run between slices. */
const inSlices = async <T>(items: Iterable<T>, work: (item: T) => void): Promise<void> => {
  let done = 0;
  for (const item of items) {
    work(item);
    done += 1;
    if (done % SLICE === 0) await setImmediate();
  }
};
