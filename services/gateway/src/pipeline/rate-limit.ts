import type { Cache } from '@bindery/cache';
import { Problem } from '@bindery/service-kit';
import type { RepeatedWarnings } from '@bindery/telemetry';
import type { GatewayConfig } from '../config.ts';
import { callerNetwork } from './callers.ts';
import { LocalBuckets } from './local-buckets.ts';

const maxLocalKeys = 10_000;

/** Counts requests per token and failed authentications per address. */
export interface RateLimiter {
  /**
   * Takes one request of a token.
   * @returns the headers that tell the caller where it stands
   * @throws Problem 429; its `details.headers` are the same headers
   */
  request(tokenId: string): Promise<Readonly<Record<string, string>>>;
  /**
   * Counts a failed authentication.
   * @throws Problem 429 when there were too many
   */
  failedAuthentication(address: string): Promise<void>;
}

type Taken = Awaited<ReturnType<Cache['take']>>;

export function createRateLimiter(
  cache: Cache,
  config: Pick<GatewayConfig, 'rateLimit' | 'failedAuthenticationPerMinute'>,
  repeats: RepeatedWarnings,
): RateLimiter {
  const local = new LocalBuckets(maxLocalKeys);
  const perToken = { capacity: config.rateLimit.burst, refillPerSecond: config.rateLimit.perMinute / 60 };
  const perAddress = {
    capacity: config.failedAuthenticationPerMinute,
    refillPerSecond: config.failedAuthenticationPerMinute / 60,
  };

  const take = async (key: string, rule: typeof perToken): Promise<Taken> => {
    try {
      return await cache.take(key, rule);
    } catch (error) {
      repeats.warn('cache', 'the cache is away; limits are counted in this process', { error });
      return local.take(key, rule, performance.now());
    }
  };
  const seconds = (ms: number): number => Math.max(0, Math.ceil(ms / 1000));

  return {
    async request(tokenId) {
      if (config.rateLimit.perMinute === 0) return {};
      const taken = await take(`rate:token:${tokenId}`, perToken);
      const headers = {
        'x-ratelimit-limit': String(perToken.capacity),
        'x-ratelimit-remaining': String(Math.max(0, Math.floor(taken.remaining))),
        'x-ratelimit-reset': String(seconds(taken.resetMs)),
      };
      if (taken.allowed) return headers;
      throw new Problem(
        'rate-limited',
        'rate.token',
        'Too many requests with this token. Retry-After says when to go on.',
        {
          retryAfter: Math.max(1, seconds(taken.retryAfterMs)),
          details: { headers },
        },
      );
    },
    async failedAuthentication(address) {
      if (config.failedAuthenticationPerMinute === 0) return;
      const taken = await take(`rate:address:${callerNetwork(address)}`, perAddress);
      if (taken.allowed) return;
      throw new Problem('rate-limited', 'rate.address', 'Too many failed authentications from this address.', {
        retryAfter: Math.max(1, seconds(taken.retryAfterMs)),
      });
    },
  };
}
