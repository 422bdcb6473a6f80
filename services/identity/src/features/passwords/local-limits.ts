import type { Cache } from '@bindery/cache';

/** What limits use of a cache. */
export type LimitStore = Pick<Cache, 'take' | 'increment' | 'acquire' | 'delete'>;

interface Entry {
  value: number;
  /** Milliseconds on the process's clock. */
  until: number;
}

const maxKeys = 10_000;
const hour = 3_600_000;

/** The limits of one process, for when the cache is away. Holds the last 10,000 keys. */
export class LocalLimits implements LimitStore {
  readonly #entries = new Map<string, Entry>();

  #entry(key: string, ttlMs: number, initial: number): Entry {
    const now = performance.now();
    const known = this.#entries.get(key);
    if (known !== undefined && known.until > now) return known;
    const oldest = this.#entries.keys().next();
    if (this.#entries.size >= maxKeys && !oldest.done) this.#entries.delete(oldest.value);
    const entry = { value: initial, until: now + ttlMs };
    this.#entries.set(key, entry);
    return entry;
  }

  async take(key: string, bucket: { readonly capacity: number; readonly refillPerSecond: number }) {
    // Coarser than a bucket: all at once, and all again an hour later.
    const entry = this.#entry(key, hour, bucket.capacity);
    const allowed = entry.value > 0;
    if (allowed) entry.value -= 1;
    const resetMs = entry.until - performance.now();
    return { allowed, remaining: entry.value, resetMs, retryAfterMs: allowed ? 0 : resetMs };
  }

  async increment(key: string, { ttlMs, by = 1 }: { readonly ttlMs: number; readonly by?: number }): Promise<number> {
    const entry = this.#entry(key, ttlMs, 0);
    entry.value += by;
    return entry.value;
  }

  async acquire(key: string, _holder: string, ttlMs: number): Promise<{ readonly fence: number } | undefined> {
    const entry = this.#entry(key, ttlMs, 0);
    entry.value += 1;
    return entry.value === 1 ? { fence: 1 } : undefined;
  }

  async delete(key: string): Promise<void> {
    this.#entries.delete(key);
  }
}
