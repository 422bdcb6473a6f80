import type { Cache } from '../port.ts';
import { checkBucket, checkTtl, jsonOf, takenFrom } from '../rules.ts';
import { Connection } from './redis/connection.ts';
import { Reads } from './redis/reads.ts';
import { acquire, increment, release, renew, setVersioned, takeTokens } from './redis/scripts.ts';

/** Options of {@link openRedisCache}. */
export interface RedisCacheOptions {
  /** `redis://user:password@host:port/database`, or `rediss://` for TLS. */
  readonly url: string;
  /** In front of every key, default `bindery:`. Instances that share a server need different ones. */
  readonly prefix?: string;
  /** Longest wait for one answer, in ms, default 250. After that the server counts as away. */
  readonly timeoutMs?: number;
  /** How long opening waits for the server, in ms, default 1000; then the cache is open, and unavailable. */
  readonly openWithinMs?: number;
  /** Values whose JSON is longer are not kept, in bytes, default 4 MiB. */
  readonly maxValueBytes?: number;
  /** Told when the server is lost and when it is back: something to log and to count. */
  readonly onChange?: (available: boolean, reason?: string) => void;
}

/**
 * The cache of the distributed profile: one Redis (or Valkey) server, 6.2 or newer, shared by all replicas. Every change is
 * one script on one key. While the server is away each call throws {@link CacheUnavailable}: the first within `timeoutMs`,
 * later ones at once, until a probe in the background finds it back. A lock may be lost with the server, and with the
 * eviction of keys: whatever it protects must compare the fence (PITFALLS 30).
 */
export const openRedisCache = async (options: RedisCacheOptions): Promise<Cache> => {
  const { url, prefix = 'bindery:', timeoutMs = 250, maxValueBytes = 4 * 1024 ** 2 } = options;
  const connection = new Connection({
    ...{ url, probeKey: `${prefix}probe`, timeoutMs },
    onChange: options.onChange ?? (() => undefined),
  });
  let closed = false;
  const assertOpen = (): void => {
    if (closed) throw new Error('the cache is closed');
  };
  const valueKey = (key: string): string => `${prefix}v:${key}`;
  const counterKey = (key: string): string => `${prefix}c:${key}`;
  const bucketKey = (key: string): string => `${prefix}b:${key}`;
  const lockKey = (key: string): string => `${prefix}l:${key}`;
  const reads = new Reads(connection);
  const read = async <T>(key: string): Promise<T | undefined> => {
    const stored = await reads.text(valueKey(key));
    return stored === null ? undefined : JSON.parse(stored.slice(stored.indexOf('|') + 1));
  };
  await connection.open(options.openWithinMs ?? 1000);

  return {
    async get<T>(key: string) {
      assertOpen();
      return read<T>(key);
    },
    async getMany<T>(keys: readonly string[]) {
      assertOpen();
      return Promise.all(keys.map((key) => read<T>(key)));
    },
    async set(key, value, { ttlMs, version = 0 }) {
      assertOpen();
      checkTtl(ttlMs);
      if (!Number.isFinite(version)) throw new RangeError('version must be a number');
      const text = `${version}|${jsonOf(value)}`;
      const kept = Buffer.byteLength(text) <= maxValueBytes;
      await connection.run(setVersioned, valueKey(key), [version, kept ? text : '', kept ? Math.ceil(ttlMs) : 0]);
    },
    async delete(key) {
      assertOpen();
      await connection.command((client) => client.del(valueKey(key)));
    },
    async increment(key, { ttlMs, by = 1 }) {
      assertOpen();
      checkTtl(ttlMs);
      if (!Number.isSafeInteger(by)) throw new RangeError('by must be an integer');
      return Number(await connection.run(increment, counterKey(key), [by, Math.ceil(ttlMs)]));
    },
    async take(key, rule) {
      assertOpen();
      checkBucket(rule);
      const { capacity, refillPerSecond, cost = 1 } = rule;
      const answer = await connection.run(takeTokens, bucketKey(key), [capacity, refillPerSecond, cost]);
      const [allowed, tokens] = answer as readonly [number, string];
      return takenFrom(rule, Number(tokens), allowed === 1);
    },
    async acquire(key, holder, ttlMs) {
      assertOpen();
      checkTtl(ttlMs);
      const fence = await connection.run(acquire, lockKey(key), [holder, Math.ceil(ttlMs)]);
      return fence === null ? undefined : { fence: Number(fence) };
    },
    async renew(key, holder, ttlMs) {
      assertOpen();
      checkTtl(ttlMs);
      return (await connection.run(renew, lockKey(key), [holder, Math.ceil(ttlMs)])) === 1;
    },
    async release(key, holder) {
      assertOpen();
      await connection.run(release, lockKey(key), [holder]);
    },
    async close() {
      closed = true;
      await connection.close();
    },
  };
};
