import { setImmediate, setTimeout } from 'node:timers';
import { ReadStoreUnavailable } from '../../port.ts';
import { type Database, isBusy } from './database.ts';

/** Writes of one transaction; more wait for the next, so that the thread is not held for long. */
const GROUP = 512;
/** Writes that may wait; beyond it callers are told to come back. */
const MAX_WAITING = 50_000;
const RETRY_MS = 20;

interface Entry {
  readonly work: () => unknown;
  /** Undo this entry alone when it fails; needed where it is more than one statement. */
  readonly savepoint: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: unknown };

/** Puts the writes of one turn of the event loop into one transaction (a transaction costs more than a write). */
export class Writer {
  readonly #database: Database;
  readonly #busyTimeoutMs: number;
  #waiting: Entry[] = [];
  #scheduled = false;
  #busySince: number | undefined;
  #idle: (() => void)[] = [];
  #closing = false;
  #paused = false;
  #alone: Promise<void> = Promise.resolve();

  constructor(database: Database, busyTimeoutMs: number) {
    this.#database = database;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  /**
   * Runs `work`, which is synchronous, inside the next transaction. Resolves when it is committed.
   * @param savepoint undo all of `work` when it throws; without it, `work` is a single statement
   */
  run<T>(work: () => T, savepoint: boolean): Promise<T> {
    if (this.#closing) return Promise.reject(new ReadStoreUnavailable('the read store is closed'));
    if (this.#waiting.length >= MAX_WAITING)
      return Promise.reject(new ReadStoreUnavailable('too many writes are waiting'));
    return new Promise<T>((resolve, reject) => {
      let result: T;
      const entry: Entry = {
        work: () => {
          result = work();
        },
        savepoint,
        resolve: () => resolve(result),
        reject,
      };
      this.#waiting.push(entry);
      this.#schedule();
    });
  }

  /** Runs `work` while nothing is written: writes wait until it has ended. One at a time. */
  alone(work: () => Promise<void>): Promise<void> {
    const turn = this.#alone.then(async () => {
      if (this.#closing) throw new ReadStoreUnavailable('the read store is closed');
      // Every transaction begins and ends within one turn of the event loop, so none is open here.
      this.#paused = true;
      try {
        await work();
      } finally {
        this.#paused = false;
        this.#next();
      }
    });
    this.#alone = turn.catch(() => undefined); // whoever asked for it is told
    return turn;
  }

  /** Refuses further writes; resolves when those that wait are settled. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#alone;
    if (this.#waiting.length === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #schedule(delayMs = 0): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const flush = (): void => {
      this.#scheduled = false;
      this.#flush();
    };
    if (delayMs === 0) setImmediate(flush);
    else setTimeout(flush, delayMs);
  }

  #flush(): void {
    if (this.#paused) return;
    const group = this.#waiting.splice(0, GROUP);
    try {
      this.#database.run('BEGIN IMMEDIATE', []);
    } catch (error) {
      this.#onBeginFailed(group, error);
      return;
    }
    this.#busySince = undefined;
    this.#settle(group, this.#applyTogether(group) ?? this.#apply(group));
    this.#next();
  }

  /** Another process may hold the lock: wait between turns, not inside one. */
  #onBeginFailed(group: Entry[], error: unknown): void {
    this.#busySince ??= performance.now();
    if (isBusy(error) && performance.now() - this.#busySince < this.#busyTimeoutMs) {
      this.#waiting = [...group, ...this.#waiting];
      this.#schedule(RETRY_MS);
      return;
    }
    this.#busySince = undefined;
    for (const entry of group) entry.reject(error);
    this.#next();
  }

  /**
   * Without a way back for a single entry, since hardly any fails. Undefined when one did: then the group begins anew,
   * inside a new transaction.
   */
  #applyTogether(group: readonly Entry[]): readonly Outcome[] | undefined {
    try {
      for (const { work } of group) work();
      this.#database.run('COMMIT', []);
      return group.map(() => ({ ok: true, value: undefined }));
    } catch {
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      return undefined;
    }
  }

  #apply(group: readonly Entry[]): readonly Outcome[] {
    const outcomes: Outcome[] = [];
    try {
      if (!this.#database.inTransaction) this.#database.run('BEGIN IMMEDIATE', []);
      for (const entry of group) outcomes.push(this.#applyOne(entry));
      this.#database.run('COMMIT', []);
      return outcomes;
    } catch (reason) {
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      return group.map(() => ({ ok: false, reason }));
    }
  }

  #applyOne(entry: Entry): Outcome {
    if (entry.savepoint) this.#database.exec('SAVEPOINT entry');
    try {
      const value = entry.work();
      if (entry.savepoint) this.#database.exec('RELEASE entry');
      return { ok: true, value };
    } catch (reason) {
      // A full disk or a read error ends the whole transaction; everything else concerns this entry alone.
      if (!this.#database.inTransaction) throw reason;
      if (entry.savepoint) this.#database.exec('ROLLBACK TO entry; RELEASE entry');
      return { ok: false, reason };
    }
  }

  #settle(group: readonly Entry[], outcomes: readonly Outcome[]): void {
    for (const [index, entry] of group.entries()) {
      const outcome = outcomes[index];
      if (outcome?.ok === true) entry.resolve(outcome.value);
      else entry.reject(outcome?.reason);
    }
  }

  #next(): void {
    if (this.#waiting.length > 0) {
      this.#schedule();
      return;
    }
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
