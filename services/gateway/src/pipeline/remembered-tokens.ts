import type { Cache } from '@bindery/cache';
import type { OperationContext, Principal } from '@bindery/service-kit';
import type { ResolveToken } from './resolve-token.ts';

/** What the identity service says of a token. */
export interface TokenAnswer {
  readonly principal: Principal | null;
  /** The answer may be used again while the cache has `value` under `key`, until then (milliseconds since 1970) at most. */
  readonly holds?: { readonly key: string; readonly value: string; readonly until: number | null };
}

interface Remembered {
  readonly principal: Principal;
  readonly holds: NonNullable<TokenAnswer['holds']>;
  /** By the monotonic clock. */
  readonly at: number;
}

/** The last net, should a change not reach the cache; also how exactly the last use of a token is known. */
const longestMs = 30_000;
const maxRemembered = 1000;

/**
 * Remembers who tokens stand for, and asks the shared cache on every request whether that still holds: one look instead of
 * a call of another process, with the same effect, since whoever changes a principal voids it there before the change is
 * acknowledged. Without the cache, or without an answer that holds, the identity service is asked.
 */
export const createRememberedTokens = (deps: {
  readonly cache: Pick<Cache, 'get'>;
  readonly ask: (tokenHash: string, context: OperationContext, address: string) => Promise<TokenAnswer>;
}): ResolveToken => {
  const remembered = new Map<string, Remembered>();

  const stillHolds = async ({ holds, at }: Remembered, now: Date): Promise<boolean> => {
    if (performance.now() - at > longestMs || (holds.until !== null && holds.until <= now.getTime())) return false;
    try {
      return (await deps.cache.get<string>(holds.key)) === holds.value;
    } catch {
      return false; // the identity service knows without the cache
    }
  };

  return async (tokenHash, context, address) => {
    // The principal carries the sealed address, so that it belongs to both.
    const key = `${tokenHash}|${address}`;
    const known = remembered.get(key);
    if (known !== undefined) {
      if (await stillHolds(known, context.now)) return known.principal;
      remembered.delete(key);
    }
    const { principal, holds } = await deps.ask(tokenHash, context, address);
    if (principal !== null && holds !== undefined) {
      remembered.set(key, { principal, holds, at: performance.now() });
      const [oldest] = remembered.keys();
      if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest);
    }
    return principal;
  };
};
