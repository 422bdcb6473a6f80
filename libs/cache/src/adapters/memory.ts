import type { Cache } from '../port.ts';
import { checkTtl, jsonOf } from '../rules.ts';
import { Bounded } from './memory/bounded.ts';
import { freezeCopy } from './memory/freeze.ts';
import { type Bucket, takeTokens } from './memory/token-bucket.ts';

/** Options of {@link createMemoryCache}. */
export interface MemoryCacheOptions {
  /** Monotonic time in ms; default `performance.now`. */
  readonly now?: () => number;
  /** Most cached values, default 50,000. The least recently used go first. */
  readonly maxEntries?: number;
  /** Approximate size of the cached values in bytes, default 64 MiB. */
  readonly maxBytes?: number;
  /** Most counters, most buckets and most locks (each), default 100,000. */
  readonly maxKeys?: number;
  /** Fencing numbers are above this; default from the wall clock, so that they grow over restarts too. */
  readonly fenceBase?: number;
}

interface Value {
  readonly value: unknown;
  readonly version: number;
}

interface Lock {
  readonly holder: string;
  readonly fence: number;
}

/** Bookkeeping of one entry besides its text: key, record, list links. */
const OVERHEAD_BYTES = 160;

/**
 * The cache of the embedded profile. Values are copied when stored and deeply frozen, and every reader gets the same
 * frozen object: reading costs no copy, and nobody can change what others read (writing to it throws a TypeError).
 * Locks and limits hold within this process, which in the embedded profile is the only one.
 */
export const createMemoryCache = (options: MemoryCacheOptions = {}): Cache => {
  const now = options.now ?? (() => performance.now());
  const maxKeys = options.maxKeys ?? 100_000;
  const values = new Bounded<Value>(now, {
    maxEntries: options.maxEntries ?? 50_000,
    maxBytes: options.maxBytes ?? 64 * 1024 ** 2,
  });
  const counters = new Bounded<{ count: number }>(now, { maxEntries: maxKeys, maxBytes: Number.POSITIVE_INFINITY });
  const buckets = new Bounded<Bucket>(now, { maxEntries: maxKeys, maxBytes: Number.POSITIVE_INFINITY });
  const locks = new Bounded<Lock>(now, {
    maxEntries: maxKeys,
    maxBytes: Number.POSITIVE_INFINITY,
    refuseWhenFull: true,
  });
  let fence = options.fenceBase ?? Date.now() * 1000;
  let closed = false;
  const open = (): void => {
    if (closed) throw new Error('the cache is closed');
  };

  return {
    async get<T>(key: string): Promise<T | undefined> {
      open();
      return values.get(key)?.value as T | undefined;
    },
    async getMany<T>(keys: readonly string[]): Promise<readonly (T | undefined)[]> {
      open();
      return keys.map((key) => values.get(key)?.value as T | undefined);
    },
    async set(key, value, { ttlMs, version = 0 }) {
      open();
      checkTtl(ttlMs);
      const stored = values.get(key);
      if (stored !== undefined && stored.version > version) return;
      const text = jsonOf(value);
      values.set(key, { value: freezeCopy(text), version }, ttlMs, 2 * (key.length + text.length) + OVERHEAD_BYTES);
    },
    async delete(key) {
      open();
      values.delete(key);
    },
    async increment(key, { ttlMs, by = 1 }) {
      open();
      checkTtl(ttlMs);
      const counter = counters.get(key);
      if (counter === undefined) {
        counters.set(key, { count: by }, ttlMs, 0);
        return by;
      }
      counter.count += by;
      return counter.count;
    },
    async take(key, rule) {
      open();
      const { bucket, taken, idleMs } = takeTokens(buckets.get(key), rule, now());
      buckets.set(key, bucket, idleMs, 0);
      return taken;
    },
    async acquire(key, holder, ttlMs) {
      open();
      checkTtl(ttlMs);
      if (locks.get(key) !== undefined) return undefined;
      fence += 1;
      return locks.set(key, { holder, fence }, ttlMs, 0) ? { fence } : undefined;
    },
    async renew(key, holder, ttlMs) {
      open();
      checkTtl(ttlMs);
      const held = locks.get(key);
      return held?.holder === holder && locks.set(key, held, ttlMs, 0);
    },
    async release(key, holder) {
      open();
      if (locks.get(key)?.holder === holder) locks.delete(key);
    },
    async close() {
      closed = true;
      for (const part of [values, counters, buckets, locks]) part.clear();
    },
  };
};
