import { setTimeout as delay } from 'node:timers/promises';
import { isGitSyncFailed } from '@bindery/git-sync';
import { isProblem } from '@bindery/service-kit';
import type { GitDeps } from './deps.ts';
import { createExecutor, type Work } from './execute.ts';
import { type GitSyncDocument, openGitSync } from './read-model.ts';

/** Carries out git operations of this process, and those that a process left. */
export interface GitRunner {
  /** Whether one more operation may wait here. */
  hasRoom(): boolean;
  /** Begins an operation that was just recorded; returns at once. */
  begin(work: Work): void;
  /** Goes on with, or gives up, operations that no process works on. Safe in several processes at once. */
  sweep(signal: AbortSignal): Promise<void>;
  /** Leaves what is running: whoever sweeps next goes on with it. */
  stop(): Promise<void>;
}

/** At a time in one process: each has a repository in memory. */
const maxRunning = 2;
const maxWaiting = 100;
const lockMs = 30_000;
/** So long an operation may have no lock before it counts as left by its process, in ms. */
const defaultGraceMs = 10_000;
const batch = 100;

const restarted =
  'The service was restarted while the operation ran, and its credentials are not kept: start it again.';
const unexpected = 'Something went wrong that is not the fault of the repository; the operator can find it in the log.';
const tooLong = 'The operation took too long and was given up; the content is as it was.';

export const createGitRunner = (deps: GitDeps): GitRunner => {
  const { cache, clock, logger } = deps;
  const executor = createExecutor(deps);
  const documents = openGitSync(deps.live);
  const stopping = new AbortController();
  const holder = crypto.randomUUID();
  const inHand = new Map<string, Promise<void>>();
  const waiting: (() => void)[] = [];
  let running = 0;

  const lockOf = (spaceId: string): string => `content:git-sync:${spaceId}`;
  /** Whether the lock was free; while the cache is away nobody can have it, and the work waits. */
  const lock = async (key: string): Promise<boolean> => {
    try {
      return (await cache.acquire(key, holder, lockMs)) !== undefined;
    } catch (error) {
      logger.debug('a git operation waits for the cache', { reason: String(error) });
      return false;
    }
  };
  const release = async (key: string): Promise<void> => {
    try {
      await cache.release(key, holder);
    } catch (error) {
      logger.debug('a lock runs out by itself', { key, reason: String(error) });
    }
  };
  /** Keeps others away while the work goes on; the signal aborts when that fails. */
  const locked = async (spaceId: string, work: (lost: AbortSignal) => Promise<void>): Promise<boolean> => {
    const key = lockOf(spaceId);
    let until = performance.now() + lockMs * 0.9;
    if (!(await lock(key))) return false;
    const lost = new AbortController();
    const renew = async (): Promise<void> => {
      const asked = performance.now();
      try {
        if (await cache.renew(key, holder, lockMs)) until = asked + lockMs * 0.9;
        else lost.abort(new Error('the lock was lost'));
      } catch (error) {
        // Nobody else can have it before its term is over.
        if (performance.now() > until) lost.abort(error);
      }
    };
    const renewing = setInterval(() => void renew(), lockMs / 6);
    renewing.unref();
    try {
      await work(lost.signal);
    } finally {
      clearInterval(renewing);
      await release(key);
    }
    return true;
  };

  const failed = async (work: Work, error: unknown): Promise<void> => {
    const { operationId: operation, direction } = work.operation;
    if (isProblem(error) && error.code === 'git.ended') return;
    if (isGitSyncFailed(error)) {
      logger.info('a git operation failed', { operation, direction, reason: error.reason });
      await executor.fail(work, 'failure', error.reason, error.message);
      return;
    }
    logger.error('a git operation broke', { operation, direction, reason: String(error) });
    await executor.fail(work, 'failure', 'internal', unexpected);
  };

  const carryOut = async (work: Work, lost: AbortSignal): Promise<void> => {
    const left = Date.parse(work.operation.timeoutAt) - clock.now().getTime();
    const deadline = AbortSignal.timeout(Math.max(1, left));
    const signal = AbortSignal.any([stopping.signal, lost, deadline]);
    try {
      await executor.run(work, signal);
    } catch (error) {
      // Another process goes on with it, or this one after its start.
      if (stopping.signal.aborted || lost.aborted) return;
      if (deadline.aborted) await executor.fail(work, 'timeout', 'timeout', tooLong);
      else await failed(work, error);
    }
  };

  /** Waits for its turn. @returns whether it had one: not when the lock was lost before */
  const inTurn = async (work: Work, lost: AbortSignal): Promise<boolean> => {
    if (running >= maxRunning) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      if (stopping.signal.aborted || lost.aborted) return false;
      await carryOut(work, lost);
      return true;
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };

  /**
   * Waits for a lock that an operation given up may still hold, and with it for its turn: other processes see by the lock that
   * the operation was not left.
   */
  const follow = async (work: Work): Promise<void> => {
    let done = false;
    while (!done && !stopping.signal.aborted && clock.now().toISOString() < work.operation.timeoutAt) {
      await locked(work.spaceId, async (lost) => {
        done = await inTurn(work, lost);
      });
      if (!done) await delay(250, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  };

  const hasRoom = (): boolean => waiting.length < maxWaiting;
  const begin = (work: Work): void => {
    const { operationId } = work.operation;
    if (inHand.has(operationId) || stopping.signal.aborted) return;
    const done = follow(work)
      .catch((error: unknown) => logger.error('a git operation was left', { reason: String(error) }))
      .finally(() => inHand.delete(operationId));
    inHand.set(operationId, done);
  };

  /** Decides on an operation that may have been left; without room it is left to a later look, or to another process. */
  const takeUp = async ({ spaceId, organizationId, request }: GitSyncDocument): Promise<void> => {
    const work: Work = { spaceId, organizationId, operation: request };
    if (inHand.has(request.operationId)) return;
    if (clock.now().toISOString() >= request.timeoutAt) {
      await executor.fail(work, 'timeout', 'timeout', tooLong);
      return;
    }
    // Whoever holds the lock works on it.
    const key = lockOf(spaceId);
    if (!(await lock(key))) return;
    await release(key);
    if (inHand.has(request.operationId)) return;
    // Just begun, and its process is about to take the lock.
    if (clock.now().getTime() - Date.parse(request.startedAt) < (deps.graceMs ?? defaultGraceMs)) return;
    if (request.hasCredentials) await executor.fail(work, 'failure', 'restarted', restarted);
    else if (hasRoom()) begin(work);
  };

  return {
    hasRoom,
    begin,
    async sweep(signal) {
      let after: readonly string[] | undefined;
      while (!signal.aborted) {
        const found = await documents.query({ where: { running: true }, limit: batch, ...(after ? { after } : {}) });
        for (const { document } of found) {
          if (signal.aborted) return;
          await takeUp(document);
        }
        const last = found.at(-1);
        if (last === undefined || found.length < batch) return;
        after = [last.id];
      }
    },
    async stop() {
      stopping.abort();
      for (const next of waiting.splice(0)) next();
      await Promise.all(inHand.values());
    },
  };
};
