import { setTimeout as delay } from 'node:timers/promises';
import type { EventStore } from '@bindery/event-store';
import type { SearchIndex } from '@bindery/search';
import type { Clock, ServiceStatus } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { SpacesCollection } from '../spaces/index.ts';
import type { IndexChanges } from './changes.ts';
import { readFed, type SearchRebuilds, writeFed } from './rebuilds.ts';

/** Keeps the search index in step with the primary content of spaces. Its checkpoint is in the index itself. */
export interface SearchFeeder {
  start(): void;
  /** Ends after the transaction in hand. */
  stop(): Promise<void>;
  /** Waits until everything that is in the log now is in the index; false when it is not in time. */
  caughtUp(timeoutMs: number): Promise<boolean>;
  /**
   * Feeds the index anew from what spaces have now, then goes on; resolves when that is done. The other replicas do the same
   * with theirs within seconds.
   */
  rebuild(): Promise<void>;
  /** Whether it was once fed up to the end of the log; while it cannot be fed, too: that alone keeps no replica away. */
  ready(): boolean;
  /** Resolves when it first is. */
  readonly becameReady: Promise<void>;
  status(): Promise<ServiceStatus['projections'][number]>;
}

export interface FeederDeps {
  readonly eventStore: EventStore;
  readonly index: SearchIndex;
  readonly changes: IndexChanges;
  readonly spaces: SpacesCollection;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rebuilds: SearchRebuilds;
  /** Stream prefix of spaces. */
  readonly prefix: string;
  /** How often it is looked whether another replica was told to rebuild, in ms. Default 2000. */
  readonly watchMs?: number;
}

const defaultWatchMs = 2000;
/** So long after it was asked for, a rebuild begins in the other replicas: they have learned of rebuilt read models then, in ms. */
const settleMs = 1000;

const backoff = { firstMs: 100, mostMs: 10_000 };
/** Events counted one by one for the lag; more are reported as this many. They may be large. */
const maxCountedLag = 100;
/** While nothing changes, the checkpoint is stored after so many looks at the end of the log. */
const quietTurns = 100;

interface Waiter {
  readonly position: number;
  readonly done: (inTime: boolean) => void;
}

export const createSearchFeeder = (deps: FeederDeps): SearchFeeder => {
  const { eventStore, index, changes, spaces, rebuilds, clock, logger, prefix, watchMs = defaultWatchMs } = deps;
  const prefixes = [prefix];
  const stopping = new AbortController();
  const waiters = new Set<Waiter>();
  let handled = 0;
  let state: 'live' | 'catching-up' | 'rebuilding' | 'failed' = 'catching-up';
  let failure: string | undefined;
  let running: Promise<void> | undefined;
  let restart = new AbortController();
  /** Whoever waits for a rebuild. */
  const askers = new Set<() => void>();
  /** The feeding that the index is of, or is on its way to. */
  let feeding: string | undefined;
  let watching: Promise<void> | undefined;
  const first = Promise.withResolvers<void>();
  let ready = false;
  let quiet = 0;

  const reached = (position: number): void => {
    handled = Math.max(handled, position);
    for (const waiter of waiters) if (waiter.position <= handled) waiter.done(true);
  };

  /** Feeds every space as it is now. Events after `position` are looked at again, which changes nothing. */
  const feedAll = async (of: string, signal: AbortSignal): Promise<void> => {
    const position = await eventStore.head(prefixes);
    for await (const { id, document } of spaces.scan(signal)) {
      if (document.deleted) {
        await index.apply([{ kind: 'remove-space', spaceId: id }]);
        continue;
      }
      const { organizationId, revision: revisionId } = document;
      for await (const some of changes.whole({ spaceId: id, organizationId, revisionId }, position)) {
        if (signal.aborted) return;
        await index.apply(some);
      }
    }
    if (signal.aborted) return;
    await index.apply([], writeFed(position, of));
    reached(position);
  };

  const follow = async (of: string, signal: AbortSignal): Promise<void> => {
    for await (const item of eventStore.subscribe({ after: handled, prefixes, signal })) {
      let written = false;
      if (item.kind === 'events')
        for await (const some of changes.of(item.events)) {
          await index.apply(some);
          written = true;
        }
      quiet += 1;
      if (written || quiet >= quietTurns) {
        await index.apply([], writeFed(item.position, of));
        quiet = 0;
      }
      reached(item.position);
      failure = undefined;
      if (item.kind === 'caught-up') {
        state = 'live';
        ready = true;
        first.resolve();
      }
      if (signal.aborted) return;
    }
  };

  const turn = async (): Promise<void> => {
    // First, so that a rebuild asked for from here on ends the following below.
    restart = new AbortController();
    const served = [...askers];
    const wanted = await rebuilds.wanted();
    feeding = wanted;
    const known = await index.position();
    const fed = known === undefined ? undefined : readFed(known);
    if (fed === undefined || (fed.feeding ?? wanted) !== wanted || served.length > 0) {
      state = 'rebuilding';
      await feedAll(wanted, stopping.signal);
      for (const done of served) done();
      state = 'catching-up';
    } else handled = Math.max(handled, fed.position);
    await follow(wanted, AbortSignal.any([stopping.signal, restart.signal]));
  };

  /** Begins anew when another replica was told to. */
  const watch = async (): Promise<void> => {
    const pause = (ms: number): Promise<void> =>
      delay(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    while (!stopping.signal.aborted) {
      await pause(watchMs);
      try {
        const wanted = stopping.signal.aborted ? feeding : await rebuilds.wanted();
        if (feeding === undefined || wanted === feeding) continue;
        await pause(settleMs);
        if (wanted !== feeding) restart.abort();
      } catch (error) {
        logger.debug('whether search is to be rebuilt is not known', { reason: String(error) });
      }
    }
  };

  const run = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        await turn();
        failures = 0;
      } catch (error) {
        if (stopping.signal.aborted) return;
        state = 'failed';
        first.resolve();
        failure = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
        if (failures === 0) logger.warn('feeding the search index is interrupted', { reason: failure });
        failures += 1;
        const wait = Math.min(backoff.firstMs * 2 ** Math.min(failures, 20), backoff.mostMs);
        await delay(wait, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
      }
    }
  };

  const wait = (position: number, timeoutMs: number): Promise<boolean> =>
    new Promise((resolve) => {
      const waiter: Waiter = {
        position,
        done: (inTime) => {
          clearTimeout(timer);
          waiters.delete(waiter);
          resolve(inTime);
        },
      };
      const timer = setTimeout(() => waiter.done(false), timeoutMs);
      timer.unref();
      waiters.add(waiter);
    });

  return {
    start() {
      running ??= run();
      watching ??= watch();
    },
    async stop() {
      stopping.abort();
      for (const waiter of waiters) waiter.done(false);
      await running;
      await watching;
      for (const done of askers) done();
    },
    async caughtUp(timeoutMs) {
      const head = await eventStore.head(prefixes);
      return head <= handled || wait(head, timeoutMs);
    },
    async rebuild() {
      await rebuilds.ask();
      const { promise, resolve } = Promise.withResolvers<void>();
      const done = (): void => {
        askers.delete(done);
        resolve();
      };
      askers.add(done);
      if (stopping.signal.aborted) done();
      restart.abort();
      await promise;
    },
    becameReady: first.promise,
    ready: () => ready || state === 'failed',
    async status() {
      const head = await eventStore.head(prefixes);
      let lag = 0;
      let oldest: string | undefined;
      if (handled < head)
        for await (const event of eventStore.readAll({ after: handled, prefixes, limit: maxCountedLag })) {
          oldest ??= event.metadata.time;
          lag += 1;
        }
      const oldestMs = oldest === undefined ? 0 : Math.max(0, clock.now().getTime() - Date.parse(oldest));
      const error = failure === undefined ? {} : { error: failure };
      return { name: 'search', position: handled, head, lag, oldestMs, state, ...error };
    },
  };
};
