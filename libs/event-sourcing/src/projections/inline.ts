import { setTimeout as delay } from 'node:timers/promises';
import type { Position } from '@bindery/event-store';
import { createRepeatedWarnings, type RepeatedWarnings } from '@bindery/telemetry';
import { aggregateOf } from '../aggregates.ts';
import type { AfterAppend } from '../commands/stream-repository.ts';
import type { DomainEvent, Recorded } from '../decider.ts';
import { isUnavailable, reasonOf } from '../shared/failures.ts';
import { type ProjectionContext, type Step, storeSteps } from './context.ts';
import { foldEvents, type KnownDocuments } from './folding.ts';
import type { Tracked } from './tracked.ts';

/** Events that a command makes up for before it leaves the rest to the runner. */
const MAX_REPAIR = 5000;
/** Between two tries to write documents while the read store is away, in ms. */
const AGAIN_MS = 100;

type Events = readonly Recorded<DomainEvent>[];

/** Writes the documents of an aggregate as part of the command that appended. */
export class InlineProjector implements AfterAppend {
  readonly #context: ProjectionContext;
  readonly #warnings: RepeatedWarnings;
  readonly #byAggregate = new Map<string, readonly Tracked[]>();

  constructor(context: ProjectionContext) {
    this.#context = context;
    this.#warnings = createRepeatedWarnings(context.telemetry.logger);
  }

  /** Writes what was counted of its warnings. */
  stop(): void {
    this.#warnings.stop();
  }

  begin(stream: string): () => void {
    const { inFlight } = this.#context;
    const { promise, resolve } = Promise.withResolvers<void>();
    inFlight.set(stream, promise);
    return () => {
      if (inFlight.get(stream) === promise) inFlight.delete(stream);
      resolve();
    };
  }

  async project(stream: string, events: Events, previous: { readonly position: Position }): Promise<void> {
    await this.#orLeaveToRunner(stream, () => this.#whileAway(() => this.#apply(stream, events, previous.position)));
  }

  async catchUp(stream: string): Promise<void> {
    await this.#orLeaveToRunner(stream, () => this.repair(stream));
  }

  /** Brings the inline documents of a stream up to its end. @throws what stopped it */
  async repair(stream: string): Promise<void> {
    const interested = this.#interested(stream);
    if (interested.length === 0) return;
    await this.#context.gate.pass(async () => {
      const missing = await this.#missing(stream, undefined, interested);
      if (missing === undefined) throw new Error(`${stream} is too far behind; the runner catches up`);
      if (missing.length > 0) await this.#store(stream, missing, interested);
    });
  }

  async #apply(stream: string, events: Events, before: Position): Promise<void> {
    const interested = this.#interested(stream);
    const [first] = events;
    if (interested.length === 0 || first === undefined) return;
    await this.#context.gate.pass(async () => {
      const complete =
        first.revision === 0 ||
        (this.#context.marks.get(stream) ?? -1) >= first.revision - 1 ||
        before <= handledBy(interested);
      const missing = complete ? [] : await this.#missing(stream, first.revision - 1, interested);
      if (missing !== undefined) await this.#store(stream, [...missing, ...events], interested);
    });
  }

  async #store(stream: string, events: Events, interested: readonly Tracked[]): Promise<void> {
    const context = this.#context;
    const steps: Step[] = [];
    const failures: unknown[] = [];
    const [first] = events;
    const known = new Map<Tracked, KnownDocuments>();
    for (const tracked of interested) {
      const before = first && tracked.projection.keeps ? tracked.kept.before(stream, first.revision) : undefined;
      const relevant = events.filter((event) => tracked.handles(event));
      if (relevant.length === 0) {
        if (before !== undefined) known.set(tracked, before);
        continue;
      }
      const folded = await foldEvents(tracked.projection, tracked.collections, relevant, before);
      const { writes, failure } = folded;
      if (tracked.projection.keeps) known.set(tracked, folded.known);
      // It may be another stream's, like those that are purged with what they belong to.
      if (writes.some(({ write }) => write.kind === 'remove')) tracked.kept.clear();
      // The checkpoint speaks of the whole log and is the runner's to move.
      if (writes.length > 0) steps.push({ tracked, writes, position: 0 });
      if (failure !== undefined) failures.push(failure.error);
    }
    failures.push(...(await storeSteps(context, steps)).map(({ error }) => error));
    if (failures.length > 0) throw failures[0];
    const last = events.at(-1);
    if (last === undefined) return;
    for (const [tracked, documents] of known) tracked.kept.keep(stream, last.revision, documents);
    if (last.revision > (context.marks.peek(stream) ?? -1)) context.marks.set(stream, last.revision);
  }

  /**
   * Events up to `end` that may not be in the documents yet: left behind by a crash, by a read store that was away, or
   * written by another process a moment ago. Undefined when they are too many.
   */
  async #missing(stream: string, end: number | undefined, interested: readonly Tracked[]): Promise<Events | undefined> {
    const { eventStore, aggregates, marks } = this.#context;
    const mark = marks.get(stream) ?? -1;
    const handled = handledBy(interested);
    const found: Recorded<DomainEvent>[] = [];
    const from = end === undefined ? {} : { from: end };
    for await (const event of eventStore.readStream(stream, { direction: 'backwards', ...from })) {
      if (event.revision <= mark || event.position <= handled) break;
      if (found.length >= MAX_REPAIR) return undefined;
      found.push(aggregates.read(event));
    }
    return found.reverse();
  }

  #interested(stream: string): readonly Tracked[] {
    const aggregate = aggregateOf(stream);
    const known = this.#byAggregate.get(aggregate);
    if (known !== undefined) return known;
    const interested = this.#context.tracked.filter((tracked) => tracked.inline && tracked.follows(aggregate));
    this.#byAggregate.set(aggregate, interested);
    return interested;
  }

  /**
   * Does it again while the read store is away, for a while: who is told of success by one process must not be told by another
   * that there is no such thing, only because the runner has not come to it yet.
   */
  async #whileAway(work: () => Promise<void>): Promise<void> {
    const until = performance.now() + this.#context.tuning.projectWithinMs;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isUnavailable(error) || performance.now() >= until) throw error;
      }
      await delay(AGAIN_MS);
    }
  }

  /** The command has its events stored and succeeds whatever happens here. */
  async #orLeaveToRunner(stream: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { instruments, service } = this.#context;
      instruments.inlineFailures.add(1, { service });
      // While the read store is away there would be one for every command.
      const reason = reasonOf(error);
      this.#warnings.warn('inline', 'documents of a command are left to the runner', { stream, reason });
    }
  }
}

/** The position up to which all of them have handled everything. */
const handledBy = (tracked: readonly Tracked[]): Position => Math.min(...tracked.map(({ position }) => position));
