import type { BusMessage, Handled } from '../../port.ts';
import { type StoredRecord, toBusMessage } from './messages.ts';
import { backOff, pause } from './within.ts';

/** How a group treats its messages. */
export interface Handling {
  readonly handle: (message: BusMessage, signal: AbortSignal) => Promise<Handled>;
  readonly maxAttempts: number;
  readonly backoffMs: number;
  /** 0 to 1, for jitter. */
  readonly random: () => number;
}

export type Outcome =
  | { readonly kind: 'done' | 'stopped' }
  | { readonly kind: 'park'; readonly reason: string; readonly attempts: number };

const MAX_BACKOFF_MS = 30_000;

const attempt = async (handling: Handling, message: BusMessage, signal: AbortSignal): Promise<Handled> => {
  try {
    return await handling.handle(message, signal);
  } catch (error) {
    return { kind: 'retry', reason: String(error) };
  }
};

/**
 * Hands a record to the handler until it is done, must be parked, or `stop` aborts between two attempts. Nothing that a
 * handler throws gets out (PITFALLS 17).
 */
export const handleRecord = async (
  stored: StoredRecord,
  handling: Handling,
  signals: { readonly stop: AbortSignal; readonly abort: AbortSignal },
): Promise<Outcome> => {
  let message: BusMessage;
  try {
    message = toBusMessage(stored);
  } catch (error) {
    return { kind: 'park', reason: `cannot be read: ${String(error)}`, attempts: 0 };
  }
  const { maxAttempts, backoffMs, random } = handling;
  for (let attempts = 1; ; attempts += 1) {
    const handled = await attempt(handling, message, signals.abort);
    if (handled.kind === 'done') return handled;
    const { reason } = handled;
    if (handled.kind === 'park') return { kind: 'park', reason, attempts };
    if (signals.stop.aborted) return { kind: 'stopped' };
    if (attempts >= maxAttempts) {
      return { kind: 'park', reason: `gave up after ${attempts} attempts: ${reason}`, attempts };
    }
    await pause(backOff(backoffMs, MAX_BACKOFF_MS, attempts, random), signals.stop);
    if (signals.stop.aborted) return { kind: 'stopped' };
  }
};
