import type { Cache } from '@bindery/cache';
import type { Logger } from '@bindery/telemetry';
import { isCacheDown, reasonOf } from './failures.ts';
import { pause } from './loop.ts';

/** A lock that is held for now. */
export interface HeldLease {
  /** Grows with every holder. */
  readonly fence: number;
  /** Aborts when it is lost, or could be by the monotonic clock, or the owner stops. */
  readonly signal: AbortSignal;
}

export interface LeaseOptions {
  readonly cache: Cache;
  readonly key: string;
  /** Unique per process and use. */
  readonly holder: string;
  readonly termMs: number;
  readonly logger: Logger;
  /**
   * The work is guarded at every write, so that done twice it does no harm: while the cache is away each process does it
   * without the lock, and one goes on when it is back. Default false: nobody works until the cache is back, since workers
   * that took over from one another all the time would get nowhere.
   */
  readonly harmlessTwice?: boolean;
}

/**
 * Runs `work` while the lock is held; renewed at a third of its term and given up early by the monotonic clock when that
 * fails. A paused holder may still believe in it: whatever `work` writes must compare an epoch too (PITFALLS 30).
 * @returns false when another holds it
 */
export const withLease = async (
  options: LeaseOptions,
  signal: AbortSignal,
  work: (lease: HeldLease) => Promise<void>,
): Promise<boolean> => {
  const { cache, key, holder } = options;
  const asked = performance.now();
  const granted = await ask(options);
  if (granted === undefined) return false;
  const lost = new AbortController();
  const over = new AbortController();
  const renewing = keepRenewing(options, asked, lost, AbortSignal.any([signal, over.signal]));
  // Fences of all caches begin at microseconds of the wall clock.
  const fence = granted === 'cache is away' ? Date.now() * 1000 : granted.fence;
  try {
    await work({ fence, signal: AbortSignal.any([signal, lost.signal]) });
  } finally {
    over.abort();
    await renewing;
    try {
      await cache.release(key, holder);
    } catch (error) {
      options.logger.debug('a lease runs out by itself', { key, reason: reasonOf(error) });
    }
  }
  return true;
};

const ask = async ({
  cache,
  key,
  holder,
  termMs,
  harmlessTwice = false,
}: LeaseOptions): Promise<{ readonly fence: number } | 'cache is away' | undefined> => {
  try {
    return await cache.acquire(key, holder, termMs);
  } catch (error) {
    if (harmlessTwice && isCacheDown(error)) return 'cache is away';
    throw error;
  }
};

const keepRenewing = async (
  { cache, key, holder, termMs, logger, harmlessTwice = false }: LeaseOptions,
  granted: number,
  lost: AbortController,
  signal: AbortSignal,
): Promise<void> => {
  let until = granted + termMs * 0.9;
  while (!signal.aborted) {
    await pause(Math.max(0, Math.min(termMs / 3, until - performance.now())), signal);
    if (signal.aborted) return;
    const asked = performance.now();
    try {
      const kept =
        (await cache.renew(key, holder, termMs)) ||
        // It began without the cache, or that has lost everything: whoever asks first goes on.
        (harmlessTwice && (await cache.acquire(key, holder, termMs)) !== undefined);
      until = kept ? asked + termMs * 0.9 : 0;
    } catch (error) {
      logger.debug('a lease could not be renewed', { key, reason: reasonOf(error) });
      if (harmlessTwice && isCacheDown(error)) until = asked + termMs;
    }
    if (performance.now() < until) continue;
    lost.abort();
    return;
  }
};
