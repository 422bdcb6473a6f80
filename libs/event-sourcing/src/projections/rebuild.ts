import { conflict } from '@bindery/service-kit';
import type { Projection } from '../projection.ts';
import { reasonOf } from '../shared/failures.ts';
import { type HeldLease, type LeaseOptions, withLease } from '../shared/lease.ts';
import { pause } from '../shared/loop.ts';
import { Lru } from '../shared/lru.ts';
import { applyPageAlone, type Page } from './apply-page.ts';
import { checkpointWrite, type ProjectionContext } from './context.ts';
import type { Generations } from './generations.ts';
import type { Runner } from './runner.ts';
import { Tracked } from './tracked.ts';

export interface RebuildProgress {
  readonly events: number;
  readonly total: number;
}

export interface RebuildOptions {
  readonly context: ProjectionContext;
  readonly generations: Generations;
  /** The one that applies events in this process at the moment; none while it starts or another process does. */
  readonly runner: () => Runner | undefined;
  readonly lease: Pick<LeaseOptions, 'cache' | 'key' | 'holder'>;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: RebuildProgress | undefined) => void;
}

export interface Rebuilt {
  readonly events: number;
  readonly durationMs: number;
}

/**
 * Builds projections anew beside the live ones and switches to the result (DESIGN section 4, PITFALLS 33). Killed in the
 * middle, it leaves the live ones as they were; the half-built generation is dropped by the next rebuild or start.
 *
 * @param tolerant a projection that fails is switched to as far as it got (for a new shape of documents, where there is
 * nothing to stay with); otherwise the failure ends the rebuild and everything stays as it was
 * @throws Problem `conflict` when another process rebuilds this service
 */
export const rebuild = async (
  options: RebuildOptions,
  projections: readonly Projection[],
  tolerant: boolean,
): Promise<Rebuilt> => {
  const { context } = options;
  let rebuilt: Rebuilt | undefined;
  const lease = { ...options.lease, termMs: context.tuning.leaseMs, logger: context.telemetry.logger };
  const held = await withLease(lease, options.signal, async (granted) => {
    rebuilt = await new Rebuild(options, projections, tolerant, granted).run();
  });
  if (!held || rebuilt === undefined)
    throw conflict('projections.rebuilding', 'A rebuild of this service is under way already.');
  return rebuilt;
};

/** Times that the end of the log is followed, each a fraction of the one before, until the rest is read with the gate closed. */
const MAX_ROUNDS = 5;

class Rebuild {
  readonly #options: RebuildOptions;
  readonly #live: readonly Tracked[];
  readonly #fresh: readonly Tracked[];
  readonly #failed = new Set<Tracked>();
  readonly #tolerant: boolean;
  readonly #signal: AbortSignal;
  #events = 0;
  #total = 0;

  constructor(options: RebuildOptions, projections: readonly Projection[], tolerant: boolean, lease: HeldLease) {
    this.#options = options;
    this.#tolerant = tolerant;
    this.#signal = lease.signal;
    const names = new Set(projections.map(({ name }) => name));
    this.#live = options.context.tracked.filter(({ projection }) => names.has(projection.name));
    this.#fresh = this.#live.map(({ projection }) => new Tracked(projection));
  }

  async run(): Promise<Rebuilt> {
    const { context, generations, onProgress } = this.#options;
    const started = performance.now();
    await generations.refresh();
    await generations.abandon(); // of a builder that was killed: the lease was free
    await generations.dropStale(new Date(0));
    const projections = this.#live.map(({ projection }) => projection);
    const generation = await generations.begin(projections);
    for (const tracked of this.#fresh)
      tracked.moveTo(generation, await generations.open(tracked.projection, generation), 0);
    this.#total = await context.eventStore.count();
    onProgress({ events: 0, total: this.#total });
    try {
      await this.#replay();
      await context.gate.close(() => this.#finish(generation));
    } catch (error) {
      await this.#giveUp();
      throw error;
    } finally {
      onProgress(undefined);
    }
    return { events: this.#events, durationMs: Math.round(performance.now() - started) };
  }

  /** Up to the end of the log as it was a moment ago, while the live generation goes on being written. */
  async #replay(): Promise<void> {
    const { eventStore, prefixes } = this.#options.context;
    let reached = -1;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const head = await eventStore.head(prefixes);
      if (head === reached) return;
      await this.#readUntil(head);
      reached = head;
    }
  }

  /** The rest, with nobody applying events, then the switch. */
  async #finish(generation: number): Promise<void> {
    const { context, generations } = this.#options;
    const head = await context.eventStore.head(context.prefixes);
    await this.#readUntil(head);
    for (const tracked of this.#fresh) if (!this.#failed.has(tracked)) tracked.advance(head);
    const written = this.#fresh.filter(({ position }) => position > 0);
    if (written.length > 0)
      await context.readStore.batch(written.map((tracked) => checkpointWrite(context, tracked, tracked.position)));
    if (this.#signal.aborted) throw new Error('the rebuild has lost its lease');
    await generations.switchTo(
      generation,
      this.#live.map(({ projection }) => projection),
      context.clock.now(),
    );
    context.marks.clear(); // they speak of the documents that were replaced
    for (const [index, live] of this.#live.entries()) {
      const fresh = this.#fresh[index];
      if (fresh === undefined) continue;
      live.moveTo(generation, fresh.collections, fresh.position);
      this.#options.runner()?.adopt(live);
    }
  }

  async #readUntil(head: number): Promise<void> {
    const { eventStore, prefixes, tuning } = this.#options.context;
    const going = this.#fresh.filter((tracked) => !this.#failed.has(tracked));
    const after = Math.min(...going.map(({ position }) => position), head);
    const reading = new AbortController();
    const signal = AbortSignal.any([this.#signal, reading.signal]);
    let chunk: Page['events'][number][] = [];
    for await (const item of eventStore.subscribe({ after, prefixes, signal })) {
      if (item.kind === 'events') chunk = chunk.length === 0 ? [...item.events] : chunk.concat(item.events);
      const end = item.kind === 'caught-up' || item.position >= head;
      if (!end && chunk.length < tuning.rebuildChunk) continue;
      await this.#apply({ events: chunk, position: item.position });
      chunk = [];
      if (end) break;
    }
    this.#signal.throwIfAborted();
  }

  async #apply(page: Page): Promise<void> {
    const { context, onProgress } = this.#options;
    const replay: ProjectionContext = { ...context, marks: nothingMarked };
    const failures: unknown[] = [];
    // Side by side: their writes then share the store's transactions.
    await Promise.all(
      this.#fresh.map(async (tracked) => {
        if (this.#failed.has(tracked)) return;
        try {
          await applyPageAlone(replay, tracked, page);
        } catch (error) {
          if (!(this.#tolerant && error instanceof Error && error.name === 'ProjectionFailure')) failures.push(error);
          this.#failed.add(tracked);
          context.telemetry.logger.error('a projection fails in its rebuild', {
            projection: tracked.projection.name,
            reason: reasonOf(error),
          });
        }
      }),
    );
    if (failures.length > 0) throw failures[0];
    this.#events += page.events.length;
    onProgress({ events: this.#events, total: Math.max(this.#total, this.#events) });
  }

  /** Marks what was built as waste. If even that fails, the next rebuild or start finds it. */
  async #giveUp(): Promise<void> {
    const { generations, context } = this.#options;
    try {
      await generations.abandon();
      await generations.dropStale(new Date(0));
    } catch (error) {
      context.telemetry.logger.warn('a half-built generation is dropped later', { reason: reasonOf(error) });
    }
  }
}

const nothingMarked: ProjectionContext['marks'] = new Lru<number>(1);

/** Drops replaced generations after the grace that other processes and running queries have. */
export const dropLater = async (
  context: ProjectionContext,
  generations: Generations,
  signal: AbortSignal,
): Promise<void> => {
  const replaced = context.clock.now();
  await pause(context.tuning.dropAfterMs, signal);
  try {
    await generations.dropStale(replaced);
  } catch (error) {
    context.telemetry.logger.warn('a replaced generation is dropped later', { reason: reasonOf(error) });
  }
};
