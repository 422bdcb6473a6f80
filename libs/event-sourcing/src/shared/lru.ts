interface Entry<V> {
  readonly value: V;
  used: boolean;
}

/**
 * A map that forgets what was not used for longest beyond `limit` entries, by second chance: a use only marks its entry, and
 * marked ones are passed over once. Moving an entry to the end of the Map on every use would cost time that grows with it,
 * since places taken out stay in the hash chain of a hot key until the table is built anew.
 */
export class Lru<V> {
  readonly #limit: number;
  readonly #entries = new Map<string, Entry<V>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.used = true;
    return entry.value;
  }

  /** Looks without counting it as use. */
  peek(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  set(key: string, value: V): void {
    const known = this.#entries.has(key);
    if (!known && this.#entries.size >= this.#limit) this.#evictOne(); // before it is in, lest it go itself
    this.#entries.set(key, { value, used: known });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  #evictOne(): void {
    for (const [oldest, entry] of this.#entries) {
      this.#entries.delete(oldest);
      if (!entry.used) return;
      entry.used = false;
      this.#entries.set(oldest, entry); // the loop comes by again
    }
  }
}
