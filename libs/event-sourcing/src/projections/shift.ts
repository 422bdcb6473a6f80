import type { Position } from '@bindery/event-store';
import type { Locks } from '../service-runtime.ts';
import { withLease } from '../shared/lease.ts';
import { pause, superviseLoop } from '../shared/loop.ts';
import { checkpointId, type ProjectionContext } from './context.ts';
import { Runner } from './runner.ts';
import type { Tracked } from './tracked.ts';

/**
 * How often a process that does not run the projections looks how far they are, in ms: while somebody waits, while they move or
 * it cannot serve yet, and while nothing happens. Whoever begins to wait has it look at once.
 */
const WATCH_WAITED_MS = 20;
const WATCH_MS = 250;
const WATCH_IDLE_MS = 1000;

export interface ShiftOptions {
  readonly cache: Locks;
  /** Unique per process. */
  readonly holder: string;
}

/**
 * Of all processes of a service one runs its projections at a time; the others watch how far they are and take over when
 * it ends. One that was paused past its term cannot do harm: every write is guarded by the revision or position that it
 * comes from, which whoever took over has passed (PITFALLS 30).
 */
export class Shift {
  readonly #context: ProjectionContext;
  readonly #options: ShiftOptions;
  readonly #stop = new AbortController();
  readonly #caughtUp = Promise.withResolvers<void>();
  #running: Promise<void> = Promise.resolve();
  #runner: Runner | undefined;
  /** Where the log ended when this process first looked. */
  #goal: Position | undefined;
  #live = false;

  constructor(context: ProjectionContext, options: ShiftOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** While this process runs the projections. */
  get runner(): Runner | undefined {
    return this.#runner;
  }

  /** Resolves when the projections have first come to where the log ended at the start. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  /** Whether they have. */
  get live(): boolean {
    return this.#live;
  }

  /** Why nothing moves, while a store is away. */
  get interrupted(): string | undefined {
    return this.#runner?.interrupted;
  }

  start(): void {
    const { service, telemetry, tuning } = this.#context;
    const name = `${service} projections' lease`;
    const { signal } = this.#stop;
    const waits = { firstMs: tuning.backoffMs, mostMs: tuning.leaseMs / 3 };
    this.#running = superviseLoop({ name, logger: telemetry.logger, signal, ...waits }, async (_signal, succeeded) => {
      while (!signal.aborted && !(await this.#lead())) {
        await this.#watch();
        succeeded();
      }
    });
  }

  /** Ends after the page in hand and stores the checkpoints. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async saveCheckpoints(): Promise<void> {
    await this.#runner?.saveCheckpoints();
  }

  /** @returns false when another process does */
  #lead(): Promise<boolean> {
    const { service, telemetry, tuning } = this.#context;
    const key = `${service}:projections`;
    const lease = { ...this.#options, key, termMs: tuning.leaseMs, logger: telemetry.logger };
    return withLease(lease, this.#stop.signal, async ({ signal }) => {
      await this.#look();
      const runner = new Runner(this.#context);
      this.#runner = runner;
      runner.start();
      void runner.caughtUp.then(() => this.#becomeLive());
      try {
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve();
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      } finally {
        await runner.stop();
        this.#runner = undefined;
      }
    });
  }

  /** Until it is time to ask for the lease again. */
  async #watch(): Promise<void> {
    const { eventStore, moves, prefixes, tracked, tuning } = this.#context;
    const { signal } = this.#stop;
    const until = performance.now() + tuning.leaseMs / 3;
    this.#goal ??= await eventStore.head(prefixes);
    while (!signal.aborted && performance.now() < until) {
      const before = furthestOf(tracked);
      await this.#look();
      const furthest = furthestOf(tracked);
      // One that fails where it runs is behind for long; it does not keep this process from serving the others.
      if (tracked.length === 0 || furthest >= this.#goal) this.#becomeLive();
      for (const one of tracked) one.state = one.position >= this.#goal ? 'live' : 'catching-up';
      const idle = this.#live && furthest === before;
      const rest = Math.min(idle ? WATCH_IDLE_MS : WATCH_MS, tuning.leaseMs / 6);
      if (tracked.some((one) => one.waitedFor)) await pause(WATCH_WAITED_MS, signal);
      else await moves.next(signal, rest);
    }
  }

  /** Takes up how far the process got that runs them. */
  async #look(): Promise<void> {
    const { checkpoints, tracked } = this.#context;
    const ids = tracked.map(({ projection, generation }) => checkpointId(projection.name, generation));
    const stored = await checkpoints.getMany(ids);
    for (const [index, one] of tracked.entries()) {
      const { document } = stored.get(ids[index] ?? '') ?? {};
      // Another generation has become live meanwhile: its position was read when it was opened.
      if (document === undefined || document.generation !== one.generation) continue;
      one.advance(document.position);
      one.saved = Math.max(one.saved, document.position);
    }
  }

  #becomeLive(): void {
    this.#live = true;
    this.#caughtUp.resolve();
  }
}

const furthestOf = (tracked: readonly Tracked[]): Position => Math.max(...tracked.map(({ position }) => position));
