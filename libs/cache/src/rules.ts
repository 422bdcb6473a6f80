import type { Cache } from './port.ts';

/** What `take` is told about a bucket. */
export type BucketRule = Parameters<Cache['take']>[1];
/** What `take` answers. */
export type Taken = Awaited<ReturnType<Cache['take']>>;

/** Longest time to live, in ms: a day. */
export const maxTtlMs = 86_400_000;

/** Fractions of tokens that come from adding many small refills. */
export const tokenEpsilon = 1e-9;

/** @throws RangeError unless it is 1 to {@link maxTtlMs} */
export const checkTtl = (ttlMs: number): void => {
  if (!(ttlMs >= 1 && ttlMs <= maxTtlMs)) throw new RangeError(`ttlMs must be 1 to ${maxTtlMs}`);
};

/** @throws RangeError unless there is a capacity, a refill and a cost that is not below 0 */
export const checkBucket = ({ capacity, refillPerSecond, cost = 1 }: BucketRule): void => {
  if (!(capacity > 0 && refillPerSecond > 0 && cost >= 0))
    throw new RangeError('a bucket needs a capacity and a refill above 0');
};

/** The JSON text of a value. @throws TypeError when it has none */
export const jsonOf = (value: unknown): string => {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError('a cached value must be JSON');
  return text;
};

/** The answer of `take`. @param tokens what is left after it */
export const takenFrom = (rule: BucketRule, tokens: number, allowed: boolean): Taken => {
  const { capacity, refillPerSecond, cost = 1 } = rule;
  const msFor = (missing: number): number => Math.max(0, Math.ceil((missing / refillPerSecond) * 1000 - tokenEpsilon));
  const resetMs = msFor(capacity - tokens);
  const retryAfterMs = allowed ? 0 : cost > capacity ? Number.MAX_SAFE_INTEGER : msFor(cost - tokens);
  return { allowed, remaining: Math.floor(tokens + tokenEpsilon), resetMs, retryAfterMs };
};
