import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { encodeAppend } from '../encode.ts';
import {
  type AppendResult,
  type EventData,
  type EventStore,
  EventStoreUnavailable,
  type ExpectedRevision,
  type Position,
  type ReadAllOptions,
  type ReadOptions,
  type RecordedEvent,
  type SubscriptionItem,
} from '../port.ts';
import { Appender } from './sqlite/appender.ts';
import { PAGE_EVENTS, Reader } from './sqlite/reader.ts';
import { RecentEvents } from './sqlite/recent.ts';
import { APPLICATION_ID, MIGRATIONS } from './sqlite/schema.ts';
import { ChangeFeed, GroupCommit, openDatabase } from './sqlite-kit/index.ts';

export { DatabaseFileError } from './sqlite-kit/index.ts';

export interface SqliteEventStoreOptions {
  /** Database file, one per service; made when absent. `:memory:` for tests. */
  readonly path: string;
  /** How soon appends of another process are noticed by subscriptions, in ms. Those of this process are at once. Default 100. */
  readonly pollMs?: number;
  /** Appends that may wait for a commit before new ones are refused. Default 10,000. */
  readonly maxQueued?: number;
  /** Bytes of events that may wait for a commit. Default 64 MB. */
  readonly maxQueuedBytes?: number;
  /** How long an append waits for another process's lock, in ms. Default 5,000. */
  readonly maxWaitMs?: number;
  /** Called after each commit; for metrics. */
  readonly onCommit?: (commit: { readonly writes: number; readonly durationMs: number }) => void;
}

const checkExpected = (expected: ExpectedRevision): void => {
  if (expected !== 'no-stream' && !(Number.isSafeInteger(expected) && expected >= 0)) {
    throw new RangeError(`expected revision must be "no-stream" or an integer from 0, not ${String(expected)}`);
  }
};

const checkCount = (name: string, value: number | undefined, least: number): void => {
  if (value !== undefined && !(Number.isSafeInteger(value) && value >= least)) {
    throw new RangeError(`${name} must be an integer from ${least}, not ${String(value)}`);
  }
};

class SqliteEventStore implements EventStore {
  readonly #db: DatabaseSync;
  readonly #commits: GroupCommit;
  readonly #changes: ChangeFeed;
  readonly #appender: Appender;
  readonly #reader: Reader;
  #closing: Promise<void> | undefined;

  constructor(options: SqliteEventStoreOptions) {
    this.#db = openDatabase({
      path: options.path,
      kind: 'event store',
      applicationId: APPLICATION_ID,
      migrations: MIGRATIONS,
    });
    this.#changes = new ChangeFeed(this.#db, options.pollMs ?? 100);
    const recent = new RecentEvents();
    this.#appender = new Appender(this.#db, recent);
    this.#reader = new Reader(this.#db, recent);
    this.#commits = new GroupCommit(this.#db, {
      ...options,
      unavailable: (message, cause) => new EventStoreUnavailable(`the event store ${message}`, { cause }),
      onCommit: (commit) => {
        this.#changes.notifyAll();
        options.onCommit?.(commit);
      },
    });
  }

  async append(stream: string, events: readonly EventData[], expected: ExpectedRevision): Promise<AppendResult> {
    checkExpected(expected);
    return this.#commits.submit(this.#appender.prepare(stream, encodeAppend(stream, events), expected));
  }

  async *readStream(stream: string, options: ReadOptions = {}): AsyncGenerator<RecordedEvent, void, void> {
    const { direction = 'forwards', limit = Number.MAX_SAFE_INTEGER } = options;
    checkCount('from', options.from, 0);
    checkCount('limit', options.limit, 0);
    const step = direction === 'forwards' ? 1 : -1;
    let from = options.from ?? (direction === 'forwards' ? 0 : Number.MAX_SAFE_INTEGER);
    let left = limit;
    for (let chunks = 1; left > 0 && from >= 0; chunks += 1) {
      this.#mustBeOpen();
      const wanted = Math.min(left, 64);
      const events = this.#reader.streamChunk(stream, from, direction, wanted);
      for (const event of events) yield event;
      const last = events.at(-1);
      if (last === undefined || events.length < wanted) return;
      left -= events.length;
      from = last.revision + step;
      if (chunks % 8 === 0) await nextTurn(); // reads are synchronous: let others run between pages
    }
  }

  async *readAll(options: ReadAllOptions = {}): AsyncGenerator<RecordedEvent, void, void> {
    const { after = 0, prefixes, limit = Number.MAX_SAFE_INTEGER, signal } = options;
    checkCount('after', after, 0);
    checkCount('limit', options.limit, 0);
    let position = after;
    for (let left = limit; left > 0; ) {
      signal?.throwIfAborted();
      this.#mustBeOpen();
      const page = this.#reader.page(position, prefixes, Math.min(left, PAGE_EVENTS));
      for (const event of page.events) yield event;
      if (page.end) return;
      left -= page.events.length;
      position = page.position;
      await nextTurn();
    }
  }

  async *subscribe(options: {
    readonly after?: Position;
    readonly prefixes?: readonly string[];
    readonly signal: AbortSignal;
  }): AsyncGenerator<SubscriptionItem, void, void> {
    const { after = 0, prefixes, signal } = options;
    checkCount('after', after, 0);
    let position = after;
    let announced: Position | undefined;
    while (!signal.aborted) {
      this.#mustBeOpen();
      const mark = this.#changes.mark('log');
      const { events, position: reached, end } = this.#reader.page(position, prefixes);
      position = reached;
      if (events.length > 0 || !end) yield { kind: 'events', events, position };
      if (signal.aborted) return;
      if (end && announced !== position) {
        announced = position;
        yield { kind: 'caught-up', position };
      }
      if (end) await this.#changes.changedSince(mark, signal);
      else await nextTurn();
    }
  }

  async head(prefixes?: readonly string[]): Promise<Position> {
    this.#mustBeOpen();
    return prefixes === undefined ? this.#reader.head() : this.#reader.headOf(prefixes);
  }

  /** Rows are never deleted and positions follow one another, so the last position is the count (see schema). */
  async count(): Promise<number> {
    this.#mustBeOpen();
    return this.#reader.head();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#commits.close();
    this.#db.close();
    this.#changes.close();
  }

  #mustBeOpen(): void {
    if (!this.#db.isOpen) throw new EventStoreUnavailable('the event store is closed');
  }
}

/**
 * Opens the embedded event store (DESIGN section 6): one SQLite file, several processes may use it at once.
 * Appends of one turn share a transaction and an fsync. Subscriptions that are still running when it closes throw.
 * @throws DatabaseFileError when the file is damaged, of another kind, or from a newer version
 */
export const openSqliteEventStore = (options: SqliteEventStoreOptions): EventStore => new SqliteEventStore(options);
