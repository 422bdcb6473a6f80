import type { AppendResult, EventStore } from '@bindery/event-store';
import { conflict, Problem } from '@bindery/service-kit';
import type { Telemetry } from '@bindery/telemetry';
import type { Aggregates } from '../aggregates.ts';
import { type AggregateDefinition, type DomainCommand, type DomainEvent, type Recorded, streamOf } from '../decider.ts';
import type { Instruments } from '../instruments.ts';
import type { Handled, Repository } from '../repository.ts';
import {
  isAppendTooLarge,
  isEventStoreDown,
  isWrongRevision,
  reasonOf,
  takenIdOf,
  writesUnavailable,
} from '../shared/failures.ts';
import { pause } from '../shared/loop.ts';
import type { RuntimeTuning } from '../tuning.ts';
import { decideAll, type Pending, type Plan } from './decisions.ts';
import { type Snapshot, Snapshots } from './snapshots.ts';

/** What happens to appended events before their commands are answered. */
export interface AfterAppend {
  /** Called before an append to the stream; the function it returns, when all is done with it. */
  begin(stream: string): () => void;
  /** Writes the aggregate's own documents. Never throws: what is appended stays appended. */
  project(stream: string, events: readonly Recorded<DomainEvent>[], previous: Snapshot<unknown>): Promise<void>;
  /** Brings the stream's own documents up to its end. Never throws. */
  catchUp(stream: string): Promise<void>;
}

export interface RepositoryParts {
  readonly eventStore: EventStore;
  readonly aggregates: Aggregates;
  readonly telemetry: Telemetry;
  readonly instruments: Instruments;
  readonly tuning: RuntimeTuning;
  readonly afterAppend: AfterAppend;
  /** Throws when commands cannot be taken now. */
  readonly assertRunning: () => void;
}

/** Commands decided together; more wait for the next append. */
const MAX_BATCH = 200;
/** Waits between attempts to append the same events again when the outcome is unknown, in ms. */
const RETRIES_MS: readonly number[] = [20, 150];
const never = new AbortController().signal;

/** See {@link Repository}. */
export class StreamRepository<State, Command extends DomainCommand, Event extends DomainEvent>
  implements Repository<State, Command, Event>
{
  readonly #definition: AggregateDefinition<State, Command, Event>;
  readonly #parts: RepositoryParts;
  readonly #snapshots: Snapshots<State, Command, Event>;
  readonly #queues = new Map<string, Pending<State, Command, Event>[]>();
  readonly #labels: { readonly aggregate: string };

  constructor(definition: AggregateDefinition<State, Command, Event>, parts: RepositoryParts) {
    this.#definition = definition;
    this.#parts = parts;
    this.#snapshots = new Snapshots(definition, parts.eventStore, parts.aggregates, parts.tuning.cachedStreams);
    this.#labels = { aggregate: definition.name };
  }

  async load(id: string): Promise<{ readonly state: State; readonly revision: number }> {
    try {
      return await this.#snapshots.load(streamOf(this.#definition, id));
    } catch (error) {
      throw explained(error);
    }
  }

  known(id: string): State | undefined {
    return this.#snapshots.known(streamOf(this.#definition, id))?.state;
  }

  async handle(
    id: string,
    command: Command | ((state: State, revision: number) => Command),
    metadata: Pending<State, Command, Event>['metadata'],
    options: Pending<State, Command, Event>['options'] = {},
  ): Promise<Handled<State, Event>> {
    this.#parts.assertRunning();
    const stream = streamOf(this.#definition, id);
    const seed = metadata.eventId();
    const enqueue = (traceparent: string | undefined): Promise<Handled<State, Event>> =>
      new Promise((resolve, reject) => {
        this.#enqueue(stream, { command, metadata, options, seed, traceparent, resolve, reject });
      });
    const { tracer } = this.#parts.telemetry;
    if (!tracer.enabled) return enqueue(undefined);
    const parent = tracer.current() === undefined ? metadata.traceparent : undefined;
    const attributes = { 'bindery.aggregate': this.#definition.name, 'bindery.stream': stream };
    return tracer.span(`handle ${this.#definition.name}`, { parent, attributes }, async (span) => {
      const handled = await enqueue(span.traceparent);
      span.set('bindery.events', handled.events.length);
      return handled;
    });
  }

  #enqueue(stream: string, pending: Pending<State, Command, Event>): void {
    const queue = this.#queues.get(stream);
    if (queue === undefined) {
      const started = [pending];
      this.#queues.set(stream, started);
      void this.#work(stream, started);
      return;
    }
    if (queue.length >= this.#parts.tuning.queuedCommands)
      pending.reject(writesUnavailable('aggregate.overloaded', 'Too many changes of this resource wait; try again.'));
    else queue.push(pending);
  }

  /** Works through a stream's queue until it is empty. Never rejects. */
  async #work(stream: string, queue: Pending<State, Command, Event>[]): Promise<void> {
    const { tracer, logger } = this.#parts.telemetry;
    let most = MAX_BATCH;
    while (queue.length > 0) {
      const batch = queue.slice(0, most);
      most = MAX_BATCH;
      const done = this.#parts.afterAppend.begin(stream);
      try {
        // Each batch belongs to its first command; the loop itself began in the span of one that may be over.
        const [first] = batch;
        queue.splice(0, await tracer.within(first?.traceparent, () => this.#handleBatch(stream, batch)));
      } catch (error) {
        if (isAppendTooLarge(error) && batch.length > 1) {
          most = 1; // what is too much together may be little enough one by one
          continue;
        }
        queue.splice(0, batch.length);
        // The caller's doing, or that of a store that is set to take too little: then whoever runs it must see it.
        if (isAppendTooLarge(error))
          logger.warn('a change is too large to be stored', { stream, reason: reasonOf(error) });
        for (const { reject } of batch) reject(explained(error));
      } finally {
        done();
      }
    }
    this.#queues.delete(stream);
  }

  /** Answers as many commands of the batch as fit in one append; returns how many. */
  async #handleBatch(stream: string, batch: readonly Pending<State, Command, Event>[]): Promise<number> {
    const { aggregates, tuning, instruments } = this.#parts;
    let tried: { readonly plan: Plan<State, Event>; readonly snapshot: Snapshot<State> } | undefined;
    const taken = new Map<string, number>();
    let untried = batch[0]?.options.likelyNew === true && this.#snapshots.known(stream) === undefined;
    for (let attempt = 1; ; attempt += 1) {
      const presumed = untried;
      untried = false;
      const snapshot = presumed ? this.#snapshots.initial() : await this.#snapshots.load(stream);
      const written = tried?.plan.events[0]?.id;
      if (tried !== undefined && written !== undefined && snapshot.recent.includes(written)) {
        // The conflict was with our own events: an earlier attempt got through and its answer was lost (PITFALLS 9).
        await this.#appended(stream, tried.plan, tried.snapshot, snapshot.position, batch);
        await this.#settle(stream, batch, tried.plan, snapshot, snapshot.position);
        return tried.plan.decisions.length;
      }
      const plan = decideAll(this.#definition, aggregates, stream, snapshot, batch, taken);
      if (presumed && plan.events.length === 0) continue; // nothing that the append would check
      try {
        const result = plan.events.length === 0 ? undefined : await this.#append(stream, plan, snapshot);
        if (result !== undefined) await this.#appended(stream, plan, snapshot, result.position, batch);
        await this.#settle(stream, batch, plan, snapshot, result?.position ?? snapshot.position);
        return plan.decisions.length;
      } catch (error) {
        const takenId = takenIdOf(error);
        if (takenId !== undefined && !taken.has(takenId)) {
          const at = await this.#revisionOf(stream, takenId);
          if (at === undefined) throw error; // in another stream
          taken.set(takenId, at);
          continue;
        }
        if (!isWrongRevision(error)) throw error;
        instruments.conflicts.add(1, this.#labels);
        if (attempt >= tuning.maxAttempts)
          throw conflict('aggregate.busy', 'Others keep changing this resource; read it again and repeat the change.');
        tried = { plan, snapshot };
        await pause(Math.random() * 2 * attempt, never);
      }
    }
  }

  /**
   * Where in the stream an event is whose id an append found taken: a command that is repeated long after the first time,
   * by a reactor that begins again before a crash for instance.
   */
  async #revisionOf(stream: string, eventId: string): Promise<number | undefined> {
    for await (const { id, revision } of this.#parts.eventStore.readStream(stream, { direction: 'backwards' }))
      if (id === eventId) return revision;
    return undefined;
  }

  async #append(stream: string, plan: Plan<State, Event>, snapshot: Snapshot<State>): Promise<AppendResult> {
    const { eventStore, instruments } = this.#parts;
    const expected = snapshot.revision < 0 ? 'no-stream' : snapshot.revision;
    const started = performance.now();
    for (const wait of RETRIES_MS) {
      try {
        const result = await eventStore.append(stream, plan.events, expected);
        instruments.append.record((performance.now() - started) / 1000, this.#labels);
        return result;
      } catch (error) {
        if (!isEventStoreDown(error)) throw error;
        await pause(wait, never); // nothing is known about the outcome: the same ids, the same expectation
      }
    }
    return eventStore.append(stream, plan.events, expected);
  }

  async #appended(
    stream: string,
    plan: Plan<State, Event>,
    snapshot: Snapshot<State>,
    position: number,
    batch: readonly Pending<State, Command, Event>[],
  ): Promise<void> {
    const { afterAppend, telemetry } = this.#parts;
    const events = recordedOf(stream, plan.events, snapshot.revision + 1, position);
    this.#snapshots.keep(stream, this.#snapshots.advanceTo(snapshot, plan.state, events));
    if (!telemetry.tracer.enabled) return afterAppend.project(stream, events, snapshot);
    const [, ...links] = batch.map(({ traceparent }) => traceparent);
    await telemetry.tracer.span(`project ${this.#definition.name}`, { links }, () =>
      afterAppend.project(stream, events, snapshot),
    );
  }

  async #settle(
    stream: string,
    batch: readonly Pending<State, Command, Event>[],
    plan: Plan<State, Event>,
    snapshot: Snapshot<State>,
    position: number,
  ): Promise<void> {
    for (const [index, decision] of plan.decisions.entries()) {
      const pending = batch[index];
      if (pending === undefined) continue;
      if (decision.kind === 'refused') pending.reject(decision.reason);
      else if (decision.kind === 'decided') {
        const { state, revision } = decision;
        const first = revision - decision.events.length + 1;
        pending.resolve({ state, revision, position, events: recordedOf(stream, decision.events, first, position) });
      } else {
        try {
          pending.resolve(await this.#repeated(stream, snapshot, decision));
        } catch (error) {
          pending.reject(explained(error));
        }
      }
    }
  }

  /** Answers a command whose events are in the stream already, from what is recorded there. */
  async #repeated(
    stream: string,
    snapshot: Snapshot<State>,
    decision: { readonly from?: number; readonly idAt: (index: number) => string },
  ): Promise<Handled<State, Event>> {
    const events: Recorded<Event>[] = [];
    for await (const event of this.#parts.eventStore.readStream(stream, { from: decision.from ?? 0 })) {
      if (event.id !== decision.idAt(events.length)) break;
      events.push(this.#snapshots.recorded(event));
    }
    const last = events.at(-1);
    if (last === undefined) throw conflict('aggregate.exists', 'A resource with this identity exists already.');
    await this.#parts.afterAppend.catchUp(stream); // the first time may have ended between append and projection
    return { state: snapshot.state, revision: snapshot.revision, events, position: last.position };
  }
}

const recordedOf = <Event extends DomainEvent>(
  stream: string,
  events: Plan<unknown, Event>['events'],
  firstRevision: number,
  position: number,
): readonly Recorded<Event>[] =>
  events.map((event, index) => ({ ...event, stream, revision: firstRevision + index, position }));

const explained = (error: unknown): unknown => {
  if (isEventStoreDown(error))
    return writesUnavailable('event_store.unavailable', 'Changes cannot be stored at the moment; try again.', error);
  if (!isAppendTooLarge(error)) return error;
  const text = 'This is too much for one change: it cannot be stored at once. Make it in several smaller ones.';
  return new Problem('invalid', 'aggregate.change_too_large', text, { cause: error });
};
