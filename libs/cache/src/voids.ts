/** Options of {@link Voids}. */
export interface VoidsOptions {
  /** For how long what should have been voided may still be there, in ms: its time to live. */
  readonly staleMs: number;
  /** How often the cache is tried again, in ms, default 250. */
  readonly retryMs?: number;
  /** Most that is owed at a time, default 10,000; beyond, the oldest is left to its time to live. */
  readonly maxOwed?: number;
}

interface Owed {
  readonly tell: () => Promise<unknown>;
  readonly until: number;
}

/**
 * Tells the cache that something has changed: now, or, while it is away, as soon as it is back. The change itself has
 * happened and must not fail for it. Whoever reads asks `owes` first: what is still to be voided counts as absent here;
 * elsewhere it may be seen until then, and never longer than it lives.
 */
export class Voids {
  readonly #owed = new Map<string, Owed>();
  readonly #options: VoidsOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: VoidsOptions) {
    this.#options = options;
  }

  /** Whether the cache still has to be told about a key. */
  owes(key: string): boolean {
    return this.#owed.has(key);
  }

  /**
   * Tells about a key, at once if possible. A later `tell` of the same key stands for an earlier one.
   * @returns false when it is owed. Never throws
   */
  async put(key: string, tell: () => Promise<unknown>): Promise<boolean> {
    const { staleMs, maxOwed = 10_000 } = this.#options;
    const owed = { tell, until: performance.now() + staleMs };
    if (await this.#told(key, owed)) return true;
    const oldest = this.#owed.keys().next();
    if (this.#owed.size >= maxOwed && !oldest.done) this.#owed.delete(oldest.value);
    this.#owed.set(key, owed);
    this.#schedule();
    return false;
  }

  async #told(key: string, owed: Owed): Promise<boolean> {
    const before = this.#owed.get(key);
    try {
      await owed.tell();
    } catch {
      return false; // owed from here on: that is what this class is for
    }
    // One that came to be owed meanwhile is not settled by this.
    if (this.#owed.get(key) === before) this.#owed.delete(key);
    return true;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      void this.#retry().finally(() => {
        this.#timer = undefined;
        if (this.#owed.size > 0) this.#schedule();
      });
    }, this.#options.retryMs ?? 250).unref();
  }

  /** One after the other until one fails: the cache is still away, the others would fail too. */
  async #retry(): Promise<void> {
    for (const [key, owed] of this.#owed) {
      if (owed.until <= performance.now()) this.#owed.delete(key);
      else if (!(await this.#told(key, owed))) return;
    }
  }
}
