import { setTimeout as delay } from 'node:timers/promises';

/** A call took longer than it may; what became of it is unknown. */
export class TookTooLong extends Error {
  constructor(what: string, ms: number) {
    super(`${what} took longer than ${ms} ms`);
    this.name = 'TookTooLong';
  }
}

/** Settles with the promise, or rejects after `ms`; the promise itself goes on. @throws TookTooLong */
export const within = async <T>(ms: number, what: string, promise: Promise<T>): Promise<T> => {
  const over = new AbortController();
  const late = delay(ms, undefined, { signal: over.signal }).then(
    () => {
      throw new TookTooLong(what, ms);
    },
    () => promise,
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    over.abort();
  }
};

/** Waits; ends early, without an error, when the signal aborts. */
export const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  await delay(ms, undefined, { signal }).catch(() => undefined); // only an abort rejects
};

/** Back-off number `attempt` (from 1): doubles up to `most`, half to one and a half of the step so that members spread. */
export const backOff = (first: number, most: number, attempt: number, random: () => number): number =>
  Math.min(most, first * 2 ** Math.min(attempt - 1, 20)) * (0.5 + random());
