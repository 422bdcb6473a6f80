import type { Cache } from '@bindery/cache';
import type { Logger } from '@bindery/telemetry';

/** What limits use of a cache. */
export type LimitStore = Pick<Cache, 'take' | 'increment' | 'acquire' | 'delete'>;

interface Entry {
  value: number;
  /** When it was last filled, for buckets. */
  at: number;
  /** Milliseconds on the process's clock. */
  until: number;
}

const maxKeys = 10_000;

/** The limits of one process, for when the cache is away. Holds the last 10,000 keys. */
export class LocalLimits implements LimitStore {
  readonly #entries = new Map<string, Entry>();

  #entry(key: string, ttlMs: number, initial: number): Entry {
    const now = performance.now();
    const known = this.#entries.get(key);
    if (known !== undefined && known.until > now) return known;
    const oldest = this.#entries.keys().next();
    if (this.#entries.size >= maxKeys && !oldest.done) this.#entries.delete(oldest.value);
    const entry = { value: initial, at: now, until: now + ttlMs };
    this.#entries.set(key, entry);
    return entry;
  }

  async take(key: string, bucket: { readonly capacity: number; readonly refillPerSecond: number }) {
    const { capacity, refillPerSecond } = bucket;
    const msFor = (tokens: number): number => (tokens / refillPerSecond) * 1000;
    const entry = this.#entry(key, msFor(capacity), capacity);
    const now = performance.now();
    entry.value = Math.min(capacity, entry.value + ((now - entry.at) / 1000) * refillPerSecond);
    const allowed = entry.value >= 1;
    if (allowed) entry.value -= 1;
    entry.at = now;
    entry.until = now + msFor(capacity);
    const retryAfterMs = allowed ? 0 : msFor(1 - entry.value);
    return { allowed, remaining: Math.floor(entry.value), resetMs: msFor(capacity - entry.value), retryAfterMs };
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

/** Limits that hold in all processes, and while the cache is away in each by itself (DESIGN section 10). */
export const localWhenAway = (cache: LimitStore, logger: Logger): LimitStore => {
  const local = new LocalLimits();
  const attempt = async <T>(work: (store: LimitStore) => Promise<T>): Promise<T> => {
    try {
      return await work(cache);
    } catch (error) {
      logger.debug('the cache is away; limits are counted in this process', { error });
      return work(local);
    }
  };
  return {
    take: (key, bucket) => attempt((store) => store.take(key, bucket)),
    increment: (key, options) => attempt((store) => store.increment(key, options)),
    acquire: (key, holder, ttlMs) => attempt((store) => store.acquire(key, holder, ttlMs)),
    delete: (key) => attempt((store) => store.delete(key)),
  };
};
