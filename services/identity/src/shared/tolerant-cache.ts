import type { Cache } from '@bindery/cache';
import type { Logger } from '@bindery/telemetry';

/** What identity uses of a cache. */
export type TolerantCache = Pick<Cache, 'get' | 'set' | 'increment'>;

/**
 * A cache whose absence only costs time (DESIGN section 10): reads find nothing, writes are left out. A change that could
 * not void what others remember is in force for them after the time to live of that, half a minute.
 */
export const tolerant = (cache: Cache, logger: Logger): TolerantCache => {
  const attempt = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      logger.warn('the cache is away', { error });
      return otherwise;
    }
  };
  return {
    get: (key) => attempt(() => cache.get(key), undefined),
    set: (key, value, options) => attempt(() => cache.set(key, value, options), undefined),
    increment: (key, options) => attempt(() => cache.increment(key, options), 0),
  };
};
