/** Wakes those who wait for something to happen, so that nobody has to look from time to time. */
export class Bell {
  #waiting: (() => void)[] = [];

  ring(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** Resolves when it rings next, when `signal` aborts, or after `atMostMs`; never rejects. */
  next(signal: AbortSignal, atMostMs?: number): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        this.#waiting = this.#waiting.filter((other) => other !== wake);
        resolve();
      };
      const timer = atMostMs === undefined ? undefined : setTimeout(wake, atMostMs).unref();
      signal.addEventListener('abort', wake, { once: true });
      this.#waiting.push(wake);
    });
  }
}
