import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '@bindery/contracts';
import { createSpecificationReader } from '@bindery/openapi-reader';
import { createIdSource } from '@bindery/service-kit';
import { serviceMetadata } from '../change-requests/index.ts';
import type { OpenAPISpecCommand } from './decider.ts';
import type { OpenAPIDeps } from './deps.ts';
import type { SpecSource } from './events.ts';
import { createObtain, type Outcome } from './obtain.ts';
import type { SpecDocument, SpecsCollection } from './read-model.ts';

/**
 * Does the work on specifications that is due: new sources, and addresses whose time has come. What is due is in the read
 * model, who does it is decided by the stream; so any process goes on with what another one left, after `leaseMs` and what
 * clocks may differ by.
 */
export interface SpecProcessor {
  start(): void;
  /** Looks for work at once. */
  wake(): void;
  /** Ends within moments; what was begun is left to whoever looks next. */
  stop(): Promise<void>;
}

const defaults = {
  refetchMs: 6 * 60 * 60 * 1000,
  retryMs: 5 * 60 * 1000,
  sweepMs: 5000,
  concurrency: 4,
  leaseMs: 120_000,
  maxVersions: limits.openapi.versions,
};
/** Clocks of two machines may differ by so much, in ms, without one taking over what the other is at (PITFALLS 40). */
const clockSkewMs = 60_000;
/** Beyond this the waits do not grow. */
const maxDoublings = 16;

/** ISO time of the next look at a source; a tenth of chance keeps those of one moment from staying together. */
const nextLook = (
  source: SpecSource,
  outcome: Outcome,
  failures: number,
  now: Date,
  { refetchMs, retryMs }: { readonly refetchMs: number; readonly retryMs: number },
): string | undefined => {
  if (source.kind === 'text') return undefined;
  const isFetch = outcome.kind === 'failed' && outcome.code !== 'PARSE_ERROR';
  const wait = isFetch ? Math.min(refetchMs, retryMs * 2 ** Math.min(failures, maxDoublings)) : refetchMs;
  return new Date(now.getTime() + Math.round(wait * (1 + Math.random() / 10))).toISOString();
};

export const createSpecProcessor = (
  deps: Omit<OpenAPIDeps, 'access' | 'cursors' | 'secret' | 'live'> & { readonly specs: SpecsCollection },
): SpecProcessor => {
  const { specs, repository, clock, logger } = deps;
  const { refetchMs, retryMs, sweepMs, concurrency, leaseMs, maxVersions } = {
    ...defaults,
    ...Object.fromEntries(Object.entries(deps).filter(([name, value]) => name in defaults && value !== undefined)),
  } as typeof defaults;
  const reader = createSpecificationReader(deps.reader);
  const obtain = createObtain({ ...deps, reader });
  const stopping = new AbortController();
  const { signal } = stopping;
  const inHand = new Map<string, Promise<void>>();
  let awake = Promise.withResolvers<void>();
  let running: Promise<void> | undefined;

  const wake = (): void => awake.resolve();
  const handle = (key: string, organizationId: string, runId: string, command: OpenAPISpecCommand) =>
    repository.handle(key, command, serviceMetadata(`openapi:${runId}:${command.type}`, organizationId, clock.now()));

  /** @returns whether there was anything to do */
  const work = async (key: string, { organizationId, failures }: SpecDocument): Promise<boolean> => {
    const runId = createIdSource().id();
    const startedAt = clock.now();
    const until = new Date(startedAt.getTime() + leaseMs + clockSkewMs).toISOString();
    const { state, events } = await handle(key, organizationId, runId, {
      type: 'StartOpenAPISpecProcessing',
      data: { runId, startedAt: startedAt.toISOString(), until },
    });
    if (events.length === 0 || state.status === 'none') return false;
    const outcome = await obtain(state.source, AbortSignal.any([signal, AbortSignal.timeout(leaseMs)]));
    const now = clock.now();
    const dueAt = nextLook(state.source, outcome, failures, now, { refetchMs, retryMs });
    await handle(key, organizationId, runId, {
      type: 'FinishOpenAPISpecProcessing',
      data: { runId, processedAt: now.toISOString(), outcome, ...(dueAt === undefined ? {} : { dueAt }) },
      maxVersions,
    });
    if (outcome.kind === 'failed')
      logger.info('an OpenAPI specification could not be taken in', { specId: state.specId, code: outcome.code });
    return true;
  };

  const begin = (key: string, document: SpecDocument): void => {
    const done = work(key, document).then(
      (did) => {
        inHand.delete(key);
        // What was not to be done, or failed, waits for the next round, lest it be tried without a pause.
        if (did) wake();
      },
      (error: unknown) => {
        inHand.delete(key);
        if (!signal.aborted)
          logger.error('work on an OpenAPI specification broke off; it is taken up again', {
            specId: document.id,
            reason: String(error),
          });
      },
    );
    inHand.set(key, done);
  };

  /** Begins what is due, oldest first, as far as there is room. */
  const fill = async (): Promise<void> => {
    const room = concurrency - inHand.size;
    if (room <= 0) return;
    const due = await specs.query({
      where: { dueAt: { lte: clock.now().toISOString() } },
      orderBy: [{ field: 'dueAt', direction: 'asc' }],
      limit: concurrency + room,
    });
    for (const { id, document } of due) {
      if (signal.aborted || inHand.size >= concurrency) return;
      if (!inHand.has(id)) begin(id, document);
    }
  };

  const run = async (): Promise<void> => {
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    while (!signal.aborted) {
      awake = Promise.withResolvers();
      try {
        await fill();
      } catch (error) {
        logger.warn('looking for OpenAPI specifications to work on failed; it is tried again', {
          reason: String(error),
        });
      }
      const timer = new AbortController();
      const pause = delay(sweepMs, undefined, { signal: timer.signal, ref: false }).catch(() => undefined);
      await Promise.race([pause, awake.promise, stopped]);
      timer.abort();
    }
  };

  return {
    wake,
    start() {
      running ??= run();
    },
    async stop() {
      stopping.abort(new Error('the service stops'));
      await running;
      await Promise.all(inHand.values());
      await reader.close();
    },
  };
};
