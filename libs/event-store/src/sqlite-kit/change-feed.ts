import type { DatabaseSync, StatementSync } from 'node:sqlite';

/**
 * Tells readers that a database may hold something new: at once for commits of this connection (`notify`), within
 * `pollMs` for those of other connections and processes (`PRAGMA data_version`). The timer runs only while someone waits.
 */
export class ChangeFeed {
  readonly #dataVersion: StatementSync;
  readonly #pollMs: number;
  readonly #waiters = new Set<() => void>();
  #seenDataVersion: unknown;
  #timer: NodeJS.Timeout | undefined;
  #version = 0;

  constructor(db: DatabaseSync, pollMs: number) {
    this.#dataVersion = db.prepare('PRAGMA data_version');
    this.#seenDataVersion = this.#readDataVersion();
    this.#pollMs = pollMs;
  }

  /** Take it before reading and hand it to `changedSince`: then no change between the two is missed. */
  get version(): number {
    return this.#version;
  }

  /** Readers waiting now; a leak check for tests. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Wakes all readers. */
  notify(): void {
    this.#version += 1;
    for (const wake of [...this.#waiters]) wake();
  }

  /** Resolves when there may be news since `version` was taken, when `signal` aborts, or after `timeoutMs`; never rejects. */
  changedSince(version: number, signal?: AbortSignal, timeoutMs?: number): Promise<void> {
    if (this.#version !== version || signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => wake(), timeoutMs);
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(wake);
        signal?.removeEventListener('abort', wake);
        if (this.#waiters.size === 0) this.#stopPolling();
        resolve();
      };
      this.#waiters.add(wake);
      signal?.addEventListener('abort', wake);
      this.#timer ??= setInterval(() => this.#poll(), this.#pollMs);
    });
  }

  /** Wakes everybody for the last time. */
  close(): void {
    this.notify();
    this.#stopPolling();
  }

  #poll(): void {
    let current: unknown;
    try {
      current = this.#readDataVersion();
    } catch (error) {
      current = error; // the readers wake, read, and report what is wrong where somebody listens
    }
    if (current === this.#seenDataVersion) return;
    this.#seenDataVersion = current;
    this.notify();
  }

  #readDataVersion(): unknown {
    return this.#dataVersion.get()?.data_version;
  }

  #stopPolling(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
