import { setTimeout as delay } from 'node:timers/promises';
import type { EventStore } from '@bindery/event-store';
import type { SearchIndex } from '@bindery/search';
import type { Clock, ServiceStatus } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { SpacesCollection } from '../spaces/index.ts';
import type { IndexChanges } from './changes.ts';

/** Keeps the search index in step with the primary content of spaces. Its checkpoint is in the index itself. */
export interface SearchFeeder {
  start(): void;
  /** Ends after the transaction in hand. */
  stop(): Promise<void>;
  /** Waits until everything that is in the log now is in the index; false when it is not in time. */
  caughtUp(timeoutMs: number): Promise<boolean>;
  /** Feeds the index anew from what spaces have now, then goes on. */
  rebuild(): Promise<void>;
  status(): Promise<ServiceStatus['projections'][number]>;
}

export interface FeederDeps {
  readonly eventStore: EventStore;
  readonly index: SearchIndex;
  readonly changes: IndexChanges;
  readonly spaces: SpacesCollection;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Stream prefix of spaces. */
  readonly prefix: string;
}

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
  const { eventStore, index, changes, spaces, clock, logger, prefix } = deps;
  const prefixes = [prefix];
  const stopping = new AbortController();
  const waiters = new Set<Waiter>();
  let handled = 0;
  let state: 'live' | 'catching-up' | 'rebuilding' | 'failed' = 'catching-up';
  let failure: string | undefined;
  let running: Promise<void> | undefined;
  let restart = new AbortController();
  let rebuilt: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  let quiet = 0;

  const reached = (position: number): void => {
    handled = Math.max(handled, position);
    for (const waiter of waiters) if (waiter.position <= handled) waiter.done(true);
  };

  /** Feeds every space as it is now. Events after `position` are looked at again, which changes nothing. */
  const feedAll = async (signal: AbortSignal): Promise<void> => {
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
    await index.apply([], String(position));
    reached(position);
  };

  const follow = async (signal: AbortSignal): Promise<void> => {
    for await (const item of eventStore.subscribe({ after: handled, prefixes, signal })) {
      let written = false;
      if (item.kind === 'events')
        for await (const some of changes.of(item.events)) {
          await index.apply(some);
          written = true;
        }
      quiet += 1;
      if (written || quiet >= quietTurns) {
        await index.apply([], String(item.position));
        quiet = 0;
      }
      reached(item.position);
      failure = undefined;
      if (item.kind === 'caught-up') state = 'live';
      if (signal.aborted) return;
    }
  };

  const turn = async (): Promise<void> => {
    // First, so that a rebuild asked for from here on ends the following below.
    restart = new AbortController();
    const known = await index.position();
    if (known === undefined || rebuilt !== undefined) {
      state = 'rebuilding';
      await feedAll(stopping.signal);
      rebuilt?.resolve();
      rebuilt = undefined;
      state = 'catching-up';
    } else handled = Math.max(handled, Number(known));
    await follow(AbortSignal.any([stopping.signal, restart.signal]));
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
    },
    async stop() {
      stopping.abort();
      for (const waiter of waiters) waiter.done(false);
      await running;
      rebuilt?.resolve();
    },
    async caughtUp(timeoutMs) {
      const head = await eventStore.head(prefixes);
      return head <= handled || wait(head, timeoutMs);
    },
    async rebuild() {
      if (rebuilt === undefined) {
        const { promise, resolve } = Promise.withResolvers<void>();
        rebuilt = { promise, resolve };
        restart.abort();
      }
      await rebuilt.promise;
    },
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
