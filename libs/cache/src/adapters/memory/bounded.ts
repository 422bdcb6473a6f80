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
  /** Read since it was last considered for eviction. */
  used: boolean;
}

/**
 * A map with an expiry for each entry, a largest number of entries and of bytes. What was not read for longest goes first,
 * by second chance: a read only marks its entry, and marked ones are passed over once. (Moving an entry to the end of the
 * Map on every read costs time that grows with the Map: taken-out places stay in the hash chain of a hot key until the
 * whole table is built anew; measured 27 µs a read at 10,000 entries against 0.1.)
 */
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
    if (entry.expiresAt <= this.#now()) {
      this.delete(key);
      return undefined;
    }
    entry.used = true;
    return entry.value;
  }

  /** @returns false when there was no room */
  set(key: string, value: V, ttlMs: number, bytes: number): boolean {
    const known = this.#entries.get(key);
    if (known !== undefined && this.#bytes - known.bytes + bytes <= this.#bounds.maxBytes) {
      this.#bytes += bytes - known.bytes;
      this.#entries.set(key, { value, expiresAt: this.#now() + ttlMs, bytes, used: true });
      return true;
    }
    this.delete(key);
    if (bytes > this.#bounds.maxBytes) return false;
    while (this.#entries.size >= this.#bounds.maxEntries || this.#bytes + bytes > this.#bounds.maxBytes) {
      if (this.#bounds.refuseWhenFull === true && !this.#dropExpired()) return false;
      if (this.#entries.size === 0) break;
      if (this.#bounds.refuseWhenFull !== true) this.#dropOldest();
    }
    this.#entries.set(key, { value, expiresAt: this.#now() + ttlMs, bytes, used: false });
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

  /** Every entry is passed over at most once, since passing over takes its mark away. */
  #dropOldest(): void {
    for (const [key, entry] of this.#entries) {
      if (!entry.used || entry.expiresAt <= this.#now()) {
        this.delete(key);
        return;
      }
      entry.used = false;
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
  }

  #dropExpired(): boolean {
    const before = this.#entries.size;
    for (const [key, entry] of this.#entries) if (entry.expiresAt <= this.#now()) this.delete(key);
    return this.#entries.size < before;
  }
}
