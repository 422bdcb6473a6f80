import { EventEmitter } from 'node:events';
import { deadlineExceeded } from '../deadline.ts';

/**
 * Says once, and why, that a request is given up: to all who are at it. An emitter, since a signal of its own for every request
 * costs more than all else here.
 */
export class GivingUp extends EventEmitter {
  aborted = false;
  reason: unknown;

  because(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.emit('abort');
  }
}

/**
 * Gives a request up as soon as time is up or its caller is gone: one timer and one listener for all that is done for it.
 * @param signal of the caller, not aborted
 * @param withinMs what is left of the time
 */
export class Patience {
  readonly giving = new GivingUp();
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #gone = (): void => this.giving.because(deadlineExceeded.reasonOf(this.#signal));

  constructor(signal: AbortSignal, withinMs: number) {
    this.#signal = signal;
    this.#timer = setTimeout(() => this.giving.because(deadlineExceeded.problem()), Math.max(1, withinMs));
    signal.addEventListener('abort', this.#gone, { once: true });
  }

  /** Whatever time it takes from now on. */
  forEver(): void {
    clearTimeout(this.#timer);
  }

  /** It is over: nothing is to be given up any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#gone);
  }
}
