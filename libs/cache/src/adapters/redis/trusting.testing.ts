import { openRedisCache } from '../redis.ts';

/** A process of its own, since authorities that it trusts are read when it begins: node trusting.testing.ts URL. */
const cache = await openRedisCache({ url: process.argv[2] ?? '', openWithinMs: 5000, timeoutMs: 5000 });
try {
  await cache.set('k', 'v', { ttlMs: 60_000 });
  const found = await cache.get('k');
  const count = await cache.increment('c', { ttlMs: 60_000 });
  const { allowed } = await cache.take('b', { capacity: 1, refillPerSecond: 1 });
  const lock = await cache.acquire('l', 'me', 1000);
  const renewed = await cache.renew('l', 'me', 1000);
  await cache.release('l', 'me');
  await cache.delete('k');
  process.stdout.write(JSON.stringify([found, count, allowed, lock !== undefined, renewed]));
} catch (error) {
  process.stdout.write(JSON.stringify(String(error)));
} finally {
  await cache.close();
}
