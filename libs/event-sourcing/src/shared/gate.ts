/**
 * Many may pass, or one may close it: appliers of events pass, the end of a rebuild closes. Whoever waits to close goes
 * before those who come later. A passer must not wait for another passer, else a closer between them stops both.
 */
export class Gate {
  #passing = 0;
  #closed = false;
  readonly #closers: (() => void)[] = [];
  readonly #passers: (() => void)[] = [];

  async pass<T>(work: () => Promise<T>): Promise<T> {
    while (this.#closed || this.#closers.length > 0) await new Promise<void>((resolve) => this.#passers.push(resolve));
    this.#passing += 1;
    try {
      return await work();
    } finally {
      this.#passing -= 1;
      if (this.#passing === 0) this.#handOver();
    }
  }

  async close<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed || this.#passing > 0) await new Promise<void>((resolve) => this.#closers.push(resolve));
    this.#closed = true;
    try {
      return await work();
    } finally {
      this.#handOver();
    }
  }

  /** To the next closer, without a moment in which it is open; else to all that wait to pass. */
  #handOver(): void {
    const closer = this.#closers.shift();
    this.#closed = closer !== undefined;
    if (closer !== undefined) closer();
    else for (const wake of this.#passers.splice(0)) wake();
  }
}
