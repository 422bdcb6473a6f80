import { randomUUID } from 'node:crypto';
import type { Position } from '@bindery/event-store';
import type { Collection } from '@bindery/read-store';
import { conflict, invalid, isProblem, type ServiceStatus } from '@bindery/service-kit';
import type { Lag } from '../instruments.ts';
import type { LiveCollection, Projection } from '../projection.ts';
import type { Locks } from '../service-runtime.ts';
import { Bell } from '../shared/bell.ts';
import { isEventStoreDown, isLeaseLost, notRunning, reasonOf } from '../shared/failures.ts';
import { lagBehind } from '../shared/lag.ts';
import { withLease } from '../shared/lease.ts';
import { pause, pauseUntilBeat } from '../shared/loop.ts';
import { type CheckpointDocument, checkpointId, checkpointsSpec, type ProjectionContext } from './context.ts';
import { Generations } from './generations.ts';
import { InlineProjector } from './inline.ts';
import { liveCollections } from './live.ts';
import { dropLater, type RebuildOptions, type RebuildProgress, type Rebuilt, rebuild } from './rebuild.ts';
import { Shift } from './shift.ts';
import { Tracked } from './tracked.ts';

/** How long a start waits for documents that a crash left behind before it goes on without them. */
const CATCH_UP_MS = 10_000;

/** Documents in the shape of an older release stay for so long: processes of that release may still serve them. */
const UPGRADE_MS = 600_000;

export type ProjectionParts = Omit<ProjectionContext, 'tracked' | 'moves' | 'checkpoints'> & { readonly cache: Locks };

type Status = ServiceStatus['projections'][number];

/** All read models of a service: opened, kept up to date, rebuilt. */
export class Projections {
  readonly inline: InlineProjector;
  readonly live: LiveCollection;
  readonly #cache: Locks;
  readonly #context: ProjectionContext;
  readonly #holder = randomUUID();
  readonly #stop = new AbortController();
  readonly #tasks = new Set<Promise<void>>();
  #checkpoints: Collection<CheckpointDocument> | undefined;
  #generations: Generations | undefined;
  #shift: Shift | undefined;
  #rebuilding: ReadonlySet<string> = new Set();
  #progress: RebuildProgress | undefined;

  /** @throws TypeError when two projections have a name or a collection in common */
  constructor(parts: ProjectionParts, projections: readonly Projection[], assertRunning: () => void) {
    assertDistinct(projections);
    const { cache, ...shared } = parts;
    const checkpoints = (): Collection<CheckpointDocument> => this.#opened(this.#checkpoints);
    const moves = new Bell();
    this.#cache = cache;
    this.#context = {
      ...shared,
      moves,
      tracked: projections.map((projection) => new Tracked(projection, moves)),
      get checkpoints() {
        return checkpoints();
      },
    };
    this.inline = new InlineProjector(this.#context);
    this.live = liveCollections(this.#context.tracked, assertRunning, () => this.#followSwitches());
  }

  /** Share of the log that a rebuild under way has read. */
  get progress(): number | undefined {
    return this.#progress === undefined ? undefined : this.#progress.events / Math.max(1, this.#progress.total);
  }

  async start(): Promise<void> {
    const { service, readStore } = this.#context;
    this.#checkpoints = await readStore.collection<CheckpointDocument>(checkpointsSpec(service));
    const all = this.#context.tracked.map(({ projection }) => projection);
    this.#generations = await Generations.open(service, readStore, all);
    await this.#buildMissing(this.#generations);
    await this.#dropLeftovers();
    for (const tracked of this.#context.tracked) await this.#openLive(tracked, this.#generations);
    this.#shift = new Shift(this.#context, { cache: this.#cache, holder: this.#holder });
    this.#shift.start();
    this.#run(this.#keepCheckpoints());
    this.#run(this.#keepToSwitches());
    await Promise.race([this.#shift.caughtUp, pause(CATCH_UP_MS, this.#stop.signal), this.#eventStoreIsDown()]);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#tasks);
    await this.#shift?.stop();
    this.inline.stop();
  }

  notReady(): readonly string[] {
    const rebuilt = [...this.#rebuilding].join(', ');
    if (this.#shift === undefined) return [rebuilt === '' ? 'starting' : `building ${rebuilt}`];
    return this.#shift.live ? [] : ['projections are catching up'];
  }

  async waitFor(name: string, position: Position, timeoutMs: number): Promise<boolean> {
    const tracked = this.#context.tracked.find(({ projection }) => projection.name === name);
    if (tracked === undefined) throw new TypeError(`no projection ${name}`);
    return tracked.waitFor(position, timeoutMs);
  }

  async rebuild(names: readonly string[] | undefined): Promise<Rebuilt> {
    const generations = this.#opened(this.#generations);
    const all = this.#context.tracked.map(({ projection }) => projection);
    const unknown = names?.find((name) => !all.some((projection) => projection.name === name));
    if (unknown !== undefined)
      throw invalid('projections.unknown', `projections: there is no "${unknown}".`, {
        service: this.#context.service,
      });
    const chosen = names === undefined ? all : all.filter(({ name }) => names.includes(name));
    const rebuilt = await this.#rebuild(generations, chosen, false);
    this.#run(dropLater(this.#context, generations, this.#stop.signal));
    return rebuilt;
  }

  async lags(): Promise<readonly { readonly name: string; readonly lag: Lag }[]> {
    const { eventStore, clock, prefixes, tracked } = this.#context;
    const head = await eventStore.head(prefixes);
    const byPosition = new Map<Position, Promise<Lag>>(); // most are at the same place
    const lagAt = (position: Position): Promise<Lag> => {
      const lag = byPosition.get(position) ?? lagBehind(eventStore, clock, prefixes, position, head);
      byPosition.set(position, lag);
      return lag;
    };
    return Promise.all(
      tracked.map(async ({ projection, position }) => ({ name: projection.name, lag: await lagAt(position) })),
    );
  }

  async status(): Promise<readonly Status[]> {
    const lags = await this.lags();
    return this.#context.tracked.map((tracked, index) => {
      const { name } = tracked.projection;
      const lag = lags[index]?.lag ?? { position: tracked.position, head: tracked.position, lag: 0, oldestMs: 0 };
      const error = tracked.error ?? this.#shift?.interrupted;
      const state = this.#rebuilding.has(name) ? 'rebuilding' : tracked.state;
      return { name, ...lag, state, ...(error === undefined ? {} : { error }) };
    });
  }

  /** Builds what is not there in the shape that this binary needs; another process may be at it. */
  async #buildMissing(generations: Generations): Promise<void> {
    for (;;) {
      this.#stop.signal.throwIfAborted();
      const missing = generations.missing();
      if (missing.length === 0) return;
      try {
        await this.#rebuild(generations, missing, true);
      } catch (error) {
        const elsewhere = isProblem(error) && error.code === 'projections.rebuilding';
        if (!elsewhere && !isLeaseLost(error)) throw error;
        await pause(this.#context.tuning.generationPollMs / 4, this.#stop.signal);
        await generations.refresh();
      }
    }
  }

  async #rebuild(generations: Generations, projections: readonly Projection[], tolerant: boolean): Promise<Rebuilt> {
    if (this.#rebuilding.size > 0) throw conflict('projections.rebuilding', 'A rebuild of this service is under way.');
    this.#rebuilding = new Set(projections.map(({ name }) => name));
    const options: RebuildOptions = {
      context: this.#context,
      generations,
      runner: () => this.#shift?.runner,
      lease: this.#lease(),
      signal: this.#stop.signal,
      onProgress: (progress) => {
        this.#progress = progress;
      },
    };
    try {
      const rebuilt = await rebuild(options, projections, tolerant);
      const { telemetry, service } = this.#context;
      telemetry.logger.info('projections are rebuilt', { service, projections: [...this.#rebuilding], ...rebuilt });
      return rebuilt;
    } finally {
      this.#rebuilding = new Set();
    }
  }

  #lease(): RebuildOptions['lease'] {
    return { cache: this.#cache, key: `${this.#context.service}:rebuild`, holder: this.#holder };
  }

  async #openLive(tracked: Tracked, generations: Generations): Promise<void> {
    const { projection } = tracked;
    const generation = generations.liveOf(projection);
    if (generation === undefined) throw new Error(`${projection.name} has no live generation`);
    const stored = await this.#opened(this.#checkpoints).get(checkpointId(projection.name, generation));
    tracked.moveTo(generation, await generations.open(projection, generation), stored?.document.position ?? 0);
  }

  /** Moves to generations that another process has made live. */
  async #followSwitches(): Promise<void> {
    const generations = this.#opened(this.#generations);
    const shift = this.#opened(this.#shift);
    await generations.refresh();
    const behind = (tracked: Tracked): boolean => {
      const live = generations.liveOf(tracked.projection);
      return live !== undefined && live !== tracked.generation;
    };
    if (!this.#context.tracked.some(behind)) return;
    await this.#context.gate.close(async () => {
      for (const tracked of this.#context.tracked.filter(behind)) {
        await this.#openLive(tracked, generations);
        this.#context.marks.clear(); // they speak of documents of the generation before
        shift.runner?.adopt(tracked);
      }
    });
  }

  /** Stores checkpoints that moved without a write. */
  async #keepCheckpoints(): Promise<void> {
    const { moves, tracked, tuning } = this.#context;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      if (tracked.every(({ position, saved }) => position <= saved)) await moves.next(signal);
      await pause(tuning.checkpointMs, signal);
      if (!signal.aborted) await this.#shift?.saveCheckpoints();
    }
  }

  /** Looks for what other processes rebuilt. */
  async #keepToSwitches(): Promise<void> {
    const { tuning, telemetry } = this.#context;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await pauseUntilBeat(tuning.generationPollMs, signal);
      if (signal.aborted) return;
      try {
        await this.#followSwitches();
      } catch (error) {
        telemetry.logger.debug('the live generations could not be read', { reason: reasonOf(error) });
      }
    }
  }

  /** Generations that a process which was killed has left behind, unless a rebuild is under way elsewhere. */
  async #dropLeftovers(): Promise<void> {
    const { telemetry, tuning, clock } = this.#context;
    const generations = this.#opened(this.#generations);
    const { building, stale } = generations.pointer;
    if (building === null && stale.length === 0) return;
    const lease = { ...this.#lease(), termMs: tuning.leaseMs, logger: telemetry.logger };
    try {
      await withLease(lease, this.#stop.signal, async () => {
        await generations.abandon();
        await generations.dropStale(new Date(clock.now().getTime() - UPGRADE_MS));
      });
    } catch (error) {
      telemetry.logger.warn('replaced generations are dropped later', { reason: reasonOf(error) });
    }
  }

  /** Resolves only if the event store is away: then a start does not wait for it, since reads can go on. */
  async #eventStoreIsDown(): Promise<void> {
    try {
      await this.#context.eventStore.head(this.#context.prefixes);
    } catch (error) {
      if (isEventStoreDown(error)) return;
      throw error;
    }
    await new Promise<never>(() => undefined);
  }

  #run(task: Promise<void>): void {
    this.#tasks.add(task);
    void task.finally(() => this.#tasks.delete(task));
  }

  #opened<T>(part: T | undefined): T {
    if (part === undefined) throw notRunning(this.#context.service);
    return part;
  }
}

const assertDistinct = (projections: readonly Projection[]): void => {
  const names = projections.map(({ name }) => name);
  const collections = projections.flatMap((projection) => projection.collections.map(({ name }) => name));
  for (const list of [names, collections]) {
    const twice = list.find((name, index) => list.indexOf(name) !== index);
    if (twice !== undefined) throw new TypeError(`${twice} occurs in two projections`);
  }
};
