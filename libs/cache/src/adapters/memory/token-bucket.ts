import type { Cache } from '../../port.ts';

/** Tokens left at a moment (ms of the cache's clock). */
export interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

type Rule = Parameters<Cache['take']>[1];
type Taken = Awaited<ReturnType<Cache['take']>>;

/** Fractions that come from adding many small refills. */
const EPSILON = 1e-9;

/**
 * Takes tokens from a bucket that is full when absent. Pure.
 * @returns the bucket afterwards, the answer, and for how long the bucket differs from a full one, in ms
 */
export const takeTokens = (
  before: Bucket | undefined,
  rule: Rule,
  now: number,
): { readonly bucket: Bucket; readonly taken: Taken; readonly idleMs: number } => {
  const { capacity, refillPerSecond, cost = 1 } = rule;
  if (!(capacity > 0 && refillPerSecond > 0 && cost >= 0))
    throw new RangeError('a bucket needs a capacity and a refill above 0');
  const elapsedMs = before === undefined ? 0 : Math.max(0, now - before.at);
  const available =
    before === undefined ? capacity : Math.min(capacity, before.tokens + (elapsedMs * refillPerSecond) / 1000);
  const allowed = available + EPSILON >= cost;
  const tokens = allowed ? Math.max(0, available - cost) : available;
  const msFor = (missing: number): number => Math.max(0, Math.ceil((missing / refillPerSecond) * 1000 - EPSILON));
  const resetMs = msFor(capacity - tokens);
  const retryAfterMs = allowed ? 0 : cost > capacity ? Number.MAX_SAFE_INTEGER : msFor(cost - tokens);
  const taken = { allowed, remaining: Math.floor(tokens + EPSILON), resetMs, retryAfterMs };
  return { bucket: { tokens, at: now }, taken, idleMs: Math.max(1, resetMs) };
};
