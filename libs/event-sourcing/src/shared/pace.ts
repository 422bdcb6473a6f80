import { pause } from './loop.ts';

/**
 * Lets a follower of the log gather what is appended: the first event after a quiet time is taken at once, under load
 * everything of the last `ms` together. A turn that finds one event costs almost as much as one that finds fifty: a commit
 * of the bus, checkpoints, reads.
 */
export class Pace {
  readonly #ms: number;
  #last = Number.NEGATIVE_INFINITY;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** To be called at the end of the log, before more is asked for. Ends early, without a throw, when `signal` aborts. */
  async gather(signal: AbortSignal): Promise<void> {
    const rest = this.#last + this.#ms - performance.now();
    if (rest > 0) await pause(rest, signal);
    this.#last = performance.now();
  }
}
