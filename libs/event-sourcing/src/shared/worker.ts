import type { EventStore, Position } from '@bindery/event-store';
import type { ReadStore } from '@bindery/read-store';
import type { Clock } from '@bindery/service-kit';
import type { Telemetry } from '@bindery/telemetry';
import type { Aggregates } from '../aggregates.ts';
import type { Lag } from '../instruments.ts';
import type { Locks } from '../service-runtime.ts';
import type { RuntimeTuning } from '../tuning.ts';
import { Bell } from './bell.ts';
import { EpochLost, EpochPosition } from './epoch.ts';
import { reasonOf } from './failures.ts';
import { lagBehind } from './lag.ts';
import { type HeldLease, withLease } from './lease.ts';
import { pause, pauseUntilBeat, superviseLoop } from './loop.ts';

export interface WorkerParts {
  readonly service: string;
  readonly eventStore: EventStore;
  readonly readStore: ReadStore;
  readonly cache: Locks;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly aggregates: Aggregates;
  readonly tuning: RuntimeTuning;
  readonly prefixes: readonly string[];
  /** Unique per process. */
  readonly holder: string;
}

export type WorkerState = 'live' | 'catching-up' | 'failed';

/** Follows the log of a service in one process at a time: what publishers and reactors have in common. */
export abstract class Worker {
  protected readonly parts: WorkerParts;
  readonly name: string;
  #epoch: EpochPosition | undefined;
  readonly #stop = new AbortController();
  readonly #moved = new Bell();
  #running: Promise<void> = Promise.resolve();
  #active = false;
  #position: Position = 0;
  #state: WorkerState = 'catching-up';
  #error: string | undefined;

  constructor(parts: WorkerParts, name: string) {
    this.parts = parts;
    this.name = name;
  }

  /** One turn as the only active one: follows the log until `lease.signal` aborts. */
  protected abstract follow(lease: HeldLease, epoch: EpochPosition, succeeded: () => void): Promise<void>;

  start(): void {
    const { service, telemetry, tuning } = this.parts;
    this.#running = superviseLoop(
      {
        name: `${service} ${this.name}`,
        logger: telemetry.logger,
        signal: this.#stop.signal,
        firstMs: tuning.backoffMs,
        mostMs: Math.min(tuning.maxBackoffMs, 10_000),
        onFailure: (error, failures) => {
          this.#error = reasonOf(error);
          this.#state = failures >= tuning.failuresUntilAlarm ? 'failed' : 'catching-up';
        },
      },
      (signal, succeeded) => this.#turn(signal, succeeded),
    );
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Everything up to here is done. */
  protected moved(position: Position): void {
    if (position <= this.#position) return;
    this.#position = position;
    this.#moved.ring();
  }

  /** It has come to the end of the log. */
  protected live(): void {
    this.#state = 'live';
    this.#error = undefined;
  }

  protected get position(): Position {
    return this.#position;
  }

  async lag(): Promise<Lag & { readonly state: WorkerState; readonly error: string | undefined }> {
    const { eventStore, clock, prefixes } = this.parts;
    const head = await eventStore.head(prefixes);
    const stored = this.#active ? undefined : await (await this.#open()).read();
    // Where another process does the work, its stored position is what is known.
    const position = this.#active ? this.#position : (stored?.position ?? 0);
    const lag = await lagBehind(eventStore, clock, prefixes, position, head);
    const state = this.#active || this.#state === 'failed' ? this.#state : lag.lag === 0 ? 'live' : 'catching-up';
    return { ...lag, state, error: this.#error };
  }

  async #turn(signal: AbortSignal, succeeded: () => void): Promise<void> {
    const { cache, service, telemetry, tuning, holder } = this.parts;
    const epoch = await this.#open();
    const lease = { cache, key: `${service}:${this.name}`, holder, termMs: tuning.leaseMs, logger: telemetry.logger };
    const asActive = async (granted: HeldLease): Promise<void> => {
      this.#active = true;
      const over = new AbortController();
      const signal = AbortSignal.any([granted.signal, over.signal]);
      const saving = this.#keepSaving(epoch, signal, over);
      try {
        await this.follow({ ...granted, signal }, epoch, succeeded);
      } finally {
        this.#active = false;
        over.abort();
        await saving;
      }
    };
    while (!signal.aborted && !(await withLease(lease, signal, asActive))) {
      succeeded();
      await pauseUntilBeat(tuning.leaseMs / 3, signal);
    }
  }

  /** Stores the position from time to time, and at the end, where nothing was done that would have stored it. */
  async #keepSaving(epoch: EpochPosition, signal: AbortSignal, over: AbortController): Promise<void> {
    while (!signal.aborted) {
      if (this.#position <= epoch.saved) await this.#moved.next(signal);
      await pause(this.parts.tuning.checkpointMs, signal);
      if (this.#position <= epoch.saved || !epoch.taken) continue;
      try {
        await epoch.save(this.#position);
      } catch (error) {
        if (error instanceof EpochLost) over.abort(error);
        else
          this.parts.telemetry.logger.debug('a position is stored later', {
            worker: this.name,
            reason: reasonOf(error),
          });
      }
    }
  }

  async #open(): Promise<EpochPosition> {
    this.#epoch ??= await EpochPosition.open(this.parts.readStore, this.parts.service, this.name);
    return this.#epoch;
  }
}
