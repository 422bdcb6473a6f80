import type { Cache } from '@bindery/cache';
import type { Telemetry } from '../port.ts';
import { backEndCalls, type System } from './calls.ts';

/** A cache that counts hits and misses. One in memory is no back end: only for others are calls spans and timed. */
export const observedCache = (cache: Cache, telemetry: Telemetry, system: System): Cache => {
  const reads = telemetry.metrics.counter('bindery_cache_reads_total', 'Keys asked of the cache.', ['result']);
  const count = (found: number, asked: number): void => {
    if (found > 0) reads.add(found, { result: 'hit' });
    if (found < asked) reads.add(asked - found, { result: 'miss' });
  };
  const counted: Cache = {
    get: async <T>(key: string) => {
      const value = await cache.get<T>(key);
      count(value === undefined ? 0 : 1, 1);
      return value;
    },
    getMany: async <T>(keys: readonly string[]) => {
      const values = await cache.getMany<T>(keys);
      count(values.filter((value) => value !== undefined).length, keys.length);
      return values;
    },
    set: (key, value, options) => cache.set(key, value, options),
    delete: (key) => cache.delete(key),
    increment: (key, options) => cache.increment(key, options),
    take: (key, bucket) => cache.take(key, bucket),
    acquire: (key, holder, ttlMs) => cache.acquire(key, holder, ttlMs),
    renew: (key, holder, ttlMs) => cache.renew(key, holder, ttlMs),
    release: (key, holder) => cache.release(key, holder),
    close: () => cache.close(),
  };
  if (system === 'memory') return counted;
  const calls = backEndCalls(telemetry, 'cache', system, 'db');
  const run = <T>(operation: string, work: () => Promise<T>): Promise<T> => calls.run(operation, '', {}, work);
  return {
    get: <T>(key: string) => run('get', () => counted.get<T>(key)),
    getMany: <T>(keys: readonly string[]) =>
      calls.run('get_many', '', { 'db.operation.batch.size': keys.length }, () => counted.getMany<T>(keys)),
    set: (key, value, options) => run('set', () => cache.set(key, value, options)),
    delete: (key) => run('delete', () => cache.delete(key)),
    increment: (key, options) => run('increment', () => cache.increment(key, options)),
    take: (key, bucket) => run('take', () => cache.take(key, bucket)),
    acquire: (key, holder, ttlMs) => run('acquire', () => cache.acquire(key, holder, ttlMs)),
    renew: (key, holder, ttlMs) => run('renew', () => cache.renew(key, holder, ttlMs)),
    release: (key, holder) => run('release', () => cache.release(key, holder)),
    close: () => cache.close(),
  };
};
