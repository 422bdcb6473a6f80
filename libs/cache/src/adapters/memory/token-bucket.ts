import { type BucketRule, checkBucket, type Taken, takenFrom, tokenEpsilon } from '../../rules.ts';

/** Tokens left at a moment (ms of the cache's clock). */
export interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/**
 * Takes tokens from a bucket that is full when absent. Pure.
 * @returns the bucket afterwards, the answer, and for how long the bucket differs from a full one, in ms
 */
export const takeTokens = (
  before: Bucket | undefined,
  rule: BucketRule,
  now: number,
): { readonly bucket: Bucket; readonly taken: Taken; readonly idleMs: number } => {
  checkBucket(rule);
  const { capacity, refillPerSecond, cost = 1 } = rule;
  const elapsedMs = before === undefined ? 0 : Math.max(0, now - before.at);
  const available =
    before === undefined ? capacity : Math.min(capacity, before.tokens + (elapsedMs * refillPerSecond) / 1000);
  const allowed = available + tokenEpsilon >= cost;
  const tokens = allowed ? Math.max(0, available - cost) : available;
  const taken = takenFrom(rule, tokens, allowed);
  return { bucket: { tokens, at: now }, taken, idleMs: Math.max(1, taken.resetMs) };
};
