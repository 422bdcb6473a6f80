import { setTimeout as delay } from 'node:timers/promises';

/** How often a condition is looked at, in ms. */
const INTERVAL_MS = 50;

export interface WaitOptions {
  /** What is waited for; the error names it. */
  readonly what: string;
  /** After so long the wait fails, in ms. */
  readonly deadlineMs: number;
  /** Looked at between tries: gives a reason why waiting longer is in vain (the process has ended). */
  readonly hopeless?: () => string | undefined;
}

/**
 * Waits until a condition holds. What the condition throws counts as "not yet", and the last such error is named when
 * the deadline passes.
 * @throws Error when the deadline passes, or when it is hopeless
 */
export const waitUntil = async (condition: () => Promise<boolean>, options: WaitOptions): Promise<void> => {
  const end = performance.now() + options.deadlineMs;
  let last: unknown;
  for (;;) {
    try {
      if (await condition()) return;
      last = undefined;
    } catch (error) {
      last = error;
    }
    const reason = options.hopeless?.();
    if (reason !== undefined) throw new Error(`${options.what}: ${reason}`, { cause: last });
    if (performance.now() >= end) {
      const detail = last instanceof Error ? `: ${last.message}` : '';
      throw new Error(`${options.what}: not after ${options.deadlineMs} ms${detail}`, { cause: last });
    }
    await delay(INTERVAL_MS);
  }
};
