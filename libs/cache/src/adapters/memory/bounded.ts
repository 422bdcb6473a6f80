/** Limits of a {@link Bounded} map. */
export interface Bounds {
  readonly maxEntries: number;
  readonly maxBytes: number;
  /** Refuse a new key when full instead of dropping the least recently used one (locks must not vanish). */
  readonly refuseWhenFull?: boolean;
}

interface Entry<V> {
  readonly value: V;
  readonly expiresAt: number;
  readonly bytes: number;
}

/** A map with an expiry for each entry, a largest number of entries and of bytes. A Map keeps the order of use. */
export class Bounded<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #now: () => number;
  readonly #bounds: Bounds;
  #bytes = 0;

  constructor(now: () => number, bounds: Bounds) {
    this.#now = now;
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.expiresAt <= this.#now()) {
      this.#bytes -= entry.bytes;
      return undefined;
    }
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** @returns false when there was no room */
  set(key: string, value: V, ttlMs: number, bytes: number): boolean {
    this.delete(key);
    if (bytes > this.#bounds.maxBytes) return false;
    while (this.#entries.size >= this.#bounds.maxEntries || this.#bytes + bytes > this.#bounds.maxBytes) {
      if (this.#bounds.refuseWhenFull === true && !this.#dropExpired()) return false;
      const [oldest] = this.#entries.keys();
      if (oldest === undefined) break;
      if (this.#bounds.refuseWhenFull !== true) this.delete(oldest);
    }
    this.#entries.set(key, { value, expiresAt: this.#now() + ttlMs, bytes });
    this.#bytes += bytes;
    return true;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  #dropExpired(): boolean {
    const before = this.#entries.size;
    for (const [key, entry] of this.#entries) if (entry.expiresAt <= this.#now()) this.delete(key);
    return this.#entries.size < before;
  }
}
