import { EventStoreUnavailable } from '../../port.ts';

/** Bounds of the appends of one client. */
export interface GateLimits {
  /** Calls under way at once; the server allows about 100 per connection, reads included. */
  readonly atOnce: number;
  /** Appends that wait or run; more are refused. */
  readonly most: number;
  /** Bytes of events that wait or run. */
  readonly mostBytes: number;
}

/** Work of one key runs in order, of different keys side by side, and no more waits than the limits allow. */
export class Gate<Left> {
  readonly #limits: GateLimits;
  readonly #last = new Map<string, Promise<Left | undefined>>();
  #waiting: (() => void)[] = [];
  #running = 0;
  #count = 0;
  #bytes = 0;
  #idle: (() => void)[] = [];

  constructor(limits: GateLimits) {
    this.#limits = limits;
  }

  /**
   * @param work gets what the work before it left, if it waited for that; calls `next` when the key is free for others, with
   * what it leaves to the one that waits; it is free at the latest when the work ends
   * @throws EventStoreUnavailable when too much waits already
   */
  async run<T>(
    key: string,
    bytes: number,
    work: (before: Left | undefined, next: (left: Left | undefined) => void) => Promise<T>,
  ): Promise<T> {
    const { most, mostBytes } = this.#limits;
    if (this.#count >= most || this.#bytes + bytes > mostBytes) {
      throw new EventStoreUnavailable(`the event store has too many appends waiting (${this.#count})`);
    }
    this.#count += 1;
    this.#bytes += bytes;
    let next: (left: Left | undefined) => void = () => undefined;
    const before = this.#last.get(key);
    const done = new Promise<Left | undefined>((resolve) => {
      next = resolve;
    });
    this.#last.set(key, done);
    try {
      const left = await before;
      await this.#enter();
      try {
        return await work(left, next);
      } finally {
        this.#leave();
      }
    } finally {
      next(undefined);
      if (this.#last.get(key) === done) this.#last.delete(key);
      this.#count -= 1;
      this.#bytes -= bytes;
      if (this.#count === 0) for (const tell of this.#idle.splice(0)) tell();
    }
  }

  /** Resolves when nothing runs or waits. */
  async idle(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  async #enter(): Promise<void> {
    if (this.#running >= this.#limits.atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
  }

  #leave(): void {
    const first = this.#waiting.shift();
    if (first === undefined) this.#running -= 1;
    else first();
  }
}
