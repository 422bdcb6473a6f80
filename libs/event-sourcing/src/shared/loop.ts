import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@bindery/telemetry';
import { reasonOf } from './failures.ts';

/** Waits that grow: `firstMs`, doubled each time up to `mostMs`, with jitter; `reset` after a success. */
export class Backoff {
  readonly #firstMs: number;
  readonly #mostMs: number;
  #failures = 0;

  constructor(firstMs: number, mostMs: number) {
    this.#firstMs = firstMs;
    this.#mostMs = mostMs;
  }

  /** Failures since the last success. */
  get failures(): number {
    return this.#failures;
  }

  reset(): void {
    this.#failures = 0;
  }

  /** Counts a failure and answers how long to wait, in ms. */
  next(): number {
    const full = Math.min(this.#firstMs * 2 ** Math.min(this.#failures, 20), this.#mostMs);
    this.#failures += 1;
    return full * (0.5 + Math.random() / 2);
  }

  /** Counts a failure and waits; ends early, without a throw, when `signal` aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    await pause(this.next(), signal);
  }
}

/** Waits `ms`; ends early, without a throw, when `signal` aborts. */
export const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) return;
  try {
    await delay(ms, undefined, { signal, ref: false });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};

/**
 * Waits for the next of the moments that lie `periodMs` apart: whoever looks as often as others looks with them, so that one
 * process wakes once for all, and what they ask of a store goes out together. Ends early when `signal` aborts.
 */
export const pauseUntilBeat = (periodMs: number, signal: AbortSignal): Promise<void> =>
  pause(Math.ceil(periodMs - (performance.now() % periodMs)), signal);

export interface LoopOptions {
  readonly name: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** First and longest wait after a failure, in ms. */
  readonly firstMs?: number;
  readonly mostMs?: number;
  /** Told of every failure, before the wait. */
  readonly onFailure?: (error: unknown, failures: number) => void;
}

/**
 * Runs `turn` again and again until `signal` aborts: after a normal end, which for a subscription is a drop too
 * (PITFALLS 2), and after a failure, with back-off. `turn` calls `succeeded` when it has made progress.
 */
export const superviseLoop = async (
  options: LoopOptions,
  turn: (signal: AbortSignal, succeeded: () => void) => Promise<void>,
): Promise<void> => {
  const { signal, logger, name } = options;
  const backoff = new Backoff(options.firstMs ?? 100, options.mostMs ?? 10_000);
  while (!signal.aborted) {
    try {
      await turn(signal, () => backoff.reset());
      if (!signal.aborted) await backoff.wait(signal);
    } catch (error) {
      if (signal.aborted) return;
      options.onFailure?.(error, backoff.failures + 1);
      // Once is news; that it still fails is what metrics and status are for.
      if (backoff.failures === 0) logger.warn(`${name} is interrupted`, { reason: reasonOf(error) });
      await backoff.wait(signal);
    }
  }
};
