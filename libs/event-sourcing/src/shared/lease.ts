import type { Logger } from '@bindery/telemetry';
import type { Locks } from '../service-runtime.ts';
import { reasonOf } from './failures.ts';
import { pause, pauseUntilBeat } from './loop.ts';

/** The lease that work was done under is gone: another process may do it now. */
export class LeaseLost extends Error {
  readonly code = 'lease.lost';
  constructor(key: string) {
    super(`the lease ${key} was lost`);
  }
}

/** A lock that is held for now. */
export interface HeldLease {
  /** Grows with every holder. */
  readonly fence: number;
  /** Aborts when it is lost, or could be by the monotonic clock, or the owner stops. */
  readonly signal: AbortSignal;
}

export interface LeaseOptions {
  readonly cache: Locks;
  readonly key: string;
  /** Unique per process and use. */
  readonly holder: string;
  readonly termMs: number;
  readonly logger: Logger;
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
  const { cache, key, holder, termMs } = options;
  const asked = performance.now();
  const granted = await cache.acquire(key, holder, termMs);
  if (granted === undefined) return false;
  const lost = new AbortController();
  const over = new AbortController();
  const renewing = keepRenewing(options, asked, lost, AbortSignal.any([signal, over.signal]));
  try {
    await work({ fence: granted.fence, signal: AbortSignal.any([signal, lost.signal]) });
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

const keepRenewing = async (
  { cache, key, holder, termMs, logger }: LeaseOptions,
  granted: number,
  lost: AbortController,
  signal: AbortSignal,
): Promise<void> => {
  let until = granted + termMs * 0.9;
  while (!signal.aborted) {
    const left = until - performance.now();
    if (left < termMs / 3) await pause(Math.max(0, left), signal);
    else await pauseUntilBeat(termMs / 3, signal);
    if (signal.aborted) return;
    const asked = performance.now();
    try {
      if (await cache.renew(key, holder, termMs)) until = asked + termMs * 0.9;
      else until = 0;
    } catch (error) {
      logger.debug('a lease could not be renewed', { key, reason: reasonOf(error) });
    }
    if (performance.now() < until) continue;
    lost.abort(new LeaseLost(key));
    return;
  }
};
