import { deadlineExceeded } from '../deadline.ts';

/**
 * The end of one call before its answer: its caller is gone, or its time is up. Told to its work by a signal, and to whoever waits
 * here without one: to listen to a signal and to stop to costs more than a wait of this kind.
 */
export class CallEnd {
  readonly #controller = new AbortController();
  #waiting: ((reason: unknown) => void) | undefined;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** @param reason passed on if it is a `Problem` */
  abort(reason?: unknown): void {
    if (this.signal.aborted) return;
    this.#controller.abort(reason);
    this.#waiting?.(deadlineExceeded.reasonOf(this.signal));
  }

  /** The result of the work, or a `Problem` as soon as this ends. One wait at a time. */
  race<T>(work: () => Promise<T>): Promise<T> {
    if (this.signal.aborted) return Promise.reject(deadlineExceeded.reasonOf(this.signal));
    return new Promise<T>((resolve, reject) => {
      this.#waiting = reject;
      work().then(resolve, reject);
    });
  }
}
