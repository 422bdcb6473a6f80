import type { DatabaseSync } from 'node:sqlite';
import { isBusy, isSqliteError } from './open-database.ts';

/** One unit of work inside a shared transaction. */
export interface Write<C, T> {
  /** Size that counts against the limits, in bytes. */
  readonly bytes: number;
  /** Reads inside the transaction and throws to refuse; a refusal fails this write alone. Must not write. */
  readonly check: () => C;
  /** Writes. A throw here undoes the whole transaction, which is then repeated write by write. */
  readonly write: (checked: C) => T;
  /** Called once it is on disk, in the order of the writes, before `onCommit`. Must not throw. */
  readonly committed?: () => void;
}

export interface GroupCommitOptions {
  /** Made for a full queue, a closed database, a lock that does not go away and a failing disk. */
  readonly unavailable: (message: string, cause?: unknown) => Error;
  /** Called after each commit, before its writers are told. */
  readonly onCommit?: (commit: { readonly writes: number; readonly durationMs: number }) => void;
  /** Writes waiting at most. Default 10,000. */
  readonly maxQueued?: number;
  /** Bytes waiting at most. Default 64 MB. */
  readonly maxQueuedBytes?: number;
  /** How long a write waits for another process's lock, in ms. Default 5,000. */
  readonly maxWaitMs?: number;
}

interface Job {
  readonly bytes: number;
  readonly since: number;
  readonly check: () => unknown;
  readonly write: (checked: never) => unknown;
  readonly committed?: () => void;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

const BATCH_WRITES = 256;
const BATCH_BYTES = 4 * 1024 * 1024;
const BUSY_RETRY_MS = 10;

/**
 * Gathers the writes of one turn of the event loop into one transaction and one fsync. SQLite commits synchronously, so
 * whatever arrives while a commit runs is in the next one. Nothing else may write or begin transactions on `db`.
 */
export class GroupCommit {
  readonly #db: DatabaseSync;
  readonly #options: GroupCommitOptions;
  #queue: Job[] = [];
  #queuedBytes = 0;
  #scheduled = false;
  #closed = false;
  #idle: (() => void)[] = [];

  constructor(db: DatabaseSync, options: GroupCommitOptions) {
    this.#db = db;
    this.#options = options;
  }

  /** Resolves with what `write` returned once it is on disk. */
  submit<C, T>(job: Write<C, T>): Promise<T> {
    const { maxQueued = 10_000, maxQueuedBytes = 64 * 1024 * 1024, unavailable } = this.#options;
    if (this.#closed) return Promise.reject(unavailable('is closed'));
    if (this.#queue.length >= maxQueued || this.#queuedBytes + job.bytes > maxQueuedBytes) {
      return Promise.reject(unavailable(`has too many writes waiting (${this.#queue.length})`));
    }
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ ...job, since: performance.now(), resolve, reject });
      this.#queuedBytes += job.bytes;
      this.#schedule();
    });
  }

  /** Refuses new writes and resolves when those already queued have been answered. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#queue.length > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #schedule(delayMs?: number): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // An immediate runs after all input of this turn was read, so that concurrent requests share the commit.
    if (delayMs === undefined) setImmediate(() => this.#flush());
    else setTimeout(() => this.#flush(), delayMs);
  }

  #flush(): void {
    this.#scheduled = false;
    const batch = this.#nextBatch();
    if (this.#commit(batch) === 'busy') {
      const { maxWaitMs = 5000, unavailable } = this.#options;
      const now = performance.now();
      const waiting = batch.filter((job) => now - job.since < maxWaitMs);
      const late = batch.filter((job) => now - job.since >= maxWaitMs);
      for (const job of late) job.reject(unavailable(`is locked by another process for more than ${maxWaitMs} ms`));
      this.#queue.unshift(...waiting);
      for (const job of waiting) this.#queuedBytes += job.bytes;
      if (this.#queue.length > 0) this.#schedule(BUSY_RETRY_MS);
    } else if (this.#queue.length > 0) this.#schedule();
    if (this.#queue.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #nextBatch(): Job[] {
    let bytes = 0;
    let count = 0;
    for (const job of this.#queue) {
      if (count > 0 && (count >= BATCH_WRITES || bytes + job.bytes > BATCH_BYTES)) break;
      bytes += job.bytes;
      count += 1;
    }
    this.#queuedBytes -= bytes;
    return this.#queue.splice(0, count);
  }

  #commit(batch: readonly Job[]): 'done' | 'busy' {
    const started = performance.now();
    try {
      this.#db.exec('BEGIN IMMEDIATE');
    } catch (error) {
      if (isBusy(error)) return 'busy';
      for (const job of batch) job.reject(this.#options.unavailable(`cannot write: ${String(error)}`, error));
      return 'done';
    }
    const answers: (() => void)[] = [];
    const committed: (() => void)[] = [];
    try {
      for (const job of batch) answers.push(this.#run(job, committed));
      this.#db.exec('COMMIT');
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.#recover(batch, error);
      return 'done';
    }
    for (const tell of committed) tell();
    this.#options.onCommit?.({ writes: batch.length, durationMs: performance.now() - started });
    for (const answer of answers) answer();
    return 'done';
  }

  #run(job: Job, committed: (() => void)[]): () => void {
    let checked: unknown;
    try {
      checked = job.check();
    } catch (error) {
      if (isSqliteError(error)) throw error;
      return () => job.reject(error);
    }
    const value = job.write(checked as never);
    if (job.committed !== undefined) committed.push(job.committed);
    return () => job.resolve(value as never);
  }

  /** One write spoilt the transaction; alone, only that one fails. */
  #recover(batch: readonly Job[], error: unknown): void {
    const [only] = batch;
    if (batch.length > 1) {
      for (const job of batch) {
        if (this.#commit([job]) === 'busy') job.reject(this.#options.unavailable('is locked by another process'));
      }
    } else {
      only?.reject(isSqliteError(error) ? this.#options.unavailable(`cannot write: ${String(error)}`, error) : error);
    }
  }
}
