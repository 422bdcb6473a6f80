import { setTimeout as delay } from 'node:timers/promises';
import { CallTimedOut } from './errors.ts';

/** Runs work that must end within its time, or when a signal aborts; both reach the work through the signal it is given. */
export const bounded = async <T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  signal.throwIfAborted();
  const over = new AbortController();
  const forward = (): void => over.abort(signal.reason);
  signal.addEventListener('abort', forward, { once: true });
  const timer = setTimeout(() => over.abort(new CallTimedOut(ms)), ms);
  try {
    return await new Promise<T>((resolve, reject) => {
      over.signal.addEventListener('abort', () => reject(over.signal.reason), { once: true });
      work(over.signal).then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', forward);
  }
};

/** Waiting times that grow with every failure, with jitter so that many waiters do not come back at once. */
export class Backoff {
  readonly #firstMs: number;
  readonly #mostMs: number;
  #failures = 0;

  constructor(firstMs: number, mostMs: number) {
    this.#firstMs = firstMs;
    this.#mostMs = mostMs;
  }

  reset(): void {
    this.#failures = 0;
  }

  /** Waits before the next try; returns at once when the signal aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    const most = Math.min(this.#mostMs, this.#firstMs * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 20);
    await delay(most * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Joins callers of the same question. One that comes while it is being asked waits for the next asking: the answer under
 * way may be older than what that caller has seen.
 */
export class Joined<T> {
  readonly #ask: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
  }

  answer(): Promise<T> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return this.#start();
    const next = this.#running.then(
      () => this.#start(),
      () => this.#start(),
    );
    this.#next = next;
    return next;
  }

  #start(): Promise<T> {
    this.#next = undefined;
    const running = this.#ask().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
