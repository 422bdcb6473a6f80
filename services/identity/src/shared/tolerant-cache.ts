import { type Cache, Voids } from '@bindery/cache';
import type { RepeatedWarnings } from '@bindery/telemetry';

/** What identity uses of a cache. Nothing of it throws. */
export interface TolerantCache extends Pick<Cache, 'get' | 'set'> {
  /** Stores a value that voids what others remember; while the cache is away, as soon as it is back. */
  replace(key: string, value: unknown, options: { readonly ttlMs: number }): Promise<void>;
  /** Adds one to a counter that others remember under, as soon as the cache is there. */
  bump(key: string, options: { readonly ttlMs: number }): Promise<void>;
}

/** Nothing that identity or the gateway remembers under an epoch lives longer. */
const longestRememberedMs = 30_000;

/**
 * A cache whose absence only costs time (DESIGN section 10): reads find nothing, writes are left out. A change that could
 * not void what others remember is told when the cache is back, and in force for them at the latest after half a minute.
 * @param warnings tells that it is away, of which there would be a line for every request
 */
export const tolerant = (cache: Cache, warnings: RepeatedWarnings): TolerantCache => {
  const voids = new Voids({ staleMs: longestRememberedMs });
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      warnings.warn('cache', 'the cache is away', { error });
      return undefined;
    }
  };
  const tell = async (key: string, work: () => Promise<unknown>): Promise<void> => {
    if (!(await voids.put(key, work)))
      warnings.warn('voids', 'what others remember is voided when the cache is back', { key });
  };
  return {
    get: (key) => (voids.owes(key) ? Promise.resolve(undefined) : attempt(() => cache.get(key))),
    set: (key, value, options) => attempt(() => cache.set(key, value, options)),
    replace: (key, value, options) => tell(key, () => cache.set(key, value, options)),
    bump: (key, options) => tell(key, () => cache.increment(key, options)),
  };
};
