import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** How far a reader has seen the changes of some keys. */
export type ChangeMark = readonly (readonly [key: string, version: number])[];

interface Waiter {
  readonly mark: ChangeMark;
  readonly wake: () => void;
}

/**
 * Tells readers that a database may hold something new: at once for commits of this connection (`notify`), within
 * `pollMs` for those of other connections and processes (`PRAGMA data_version`, which wakes everybody). The timer runs
 * only while someone waits. Keys divide the news, so that a commit wakes only those whom it concerns.
 */
export class ChangeFeed {
  readonly #dataVersion: StatementSync;
  readonly #pollMs: number;
  readonly #waiters = new Set<Waiter>();
  readonly #versions = new Map<string, number>();
  #everybody = 0;
  #seenDataVersion: unknown;
  #timer: NodeJS.Timeout | undefined;

  constructor(db: DatabaseSync, pollMs: number) {
    this.#dataVersion = db.prepare('PRAGMA data_version');
    this.#seenDataVersion = this.#readDataVersion();
    this.#pollMs = pollMs;
  }

  /** Take a mark before reading and hand it to `changedSince`: then no change between the two is missed. */
  mark(...keys: readonly string[]): ChangeMark {
    return keys.map((key) => [key, this.#versionOf(key)] as const);
  }

  /** Whether nothing was reported since the mark was taken. */
  isCurrent(mark: ChangeMark): boolean {
    return mark.every(([key, version]) => this.#versionOf(key) === version);
  }

  /** Readers waiting now; a leak check for tests. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Wakes the readers of these keys. Keys are few and fixed (a partition, a group), never made from data. */
  notify(...keys: readonly string[]): void {
    for (const key of keys) this.#versions.set(key, (this.#versions.get(key) ?? 0) + 1);
    this.#wakeOutdated();
  }

  /** Wakes all readers. */
  notifyAll(): void {
    this.#everybody += 1;
    this.#wakeOutdated();
  }

  /** Resolves when there may be news since the mark, when `signal` aborts, or after `timeoutMs`; never rejects. */
  changedSince(mark: ChangeMark, signal?: AbortSignal, timeoutMs?: number): Promise<void> {
    if (signal?.aborted === true || !this.isCurrent(mark)) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => waiter.wake(), timeoutMs);
      const waiter: Waiter = {
        mark,
        wake: () => {
          clearTimeout(timer);
          this.#waiters.delete(waiter);
          signal?.removeEventListener('abort', waiter.wake);
          if (this.#waiters.size === 0) this.#stopPolling();
          resolve();
        },
      };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', waiter.wake);
      this.#timer ??= setInterval(() => this.#poll(), this.#pollMs);
    });
  }

  /** Wakes everybody for the last time. */
  close(): void {
    this.notifyAll();
    this.#stopPolling();
  }

  #versionOf(key: string): number {
    return this.#everybody + (this.#versions.get(key) ?? 0);
  }

  #wakeOutdated(): void {
    for (const waiter of [...this.#waiters]) if (!this.isCurrent(waiter.mark)) waiter.wake();
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
    this.notifyAll();
  }

  #readDataVersion(): unknown {
    return this.#dataVersion.get()?.data_version;
  }

  #stopPolling(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
