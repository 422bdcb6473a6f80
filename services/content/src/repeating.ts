import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@bindery/telemetry';

/** Work that is done again and again, one run at a time. */
export interface Repeating {
  start(): void;
  /** Ends after the piece of work in hand. */
  stop(): Promise<void>;
}

/**
 * Repeats `work`, at the start and then `everyMs` after each run. A run that fails is logged and tried again at its next
 * turn: the work must be such that this is enough.
 */
export const repeating = (options: {
  readonly name: string;
  readonly everyMs: number;
  readonly work: (signal: AbortSignal) => Promise<unknown>;
  readonly logger: Logger;
}): Repeating => {
  const { name, everyMs, work, logger } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await work(signal);
      } catch (error) {
        if (!signal.aborted) logger.warn(`${name} failed; it is tried again`, { reason: String(error) });
      }
      // An abort ends the wait early, which is all that its rejection says.
      await delay(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  return {
    start() {
      running ??= run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
};
