import type { Position, RecordedEvent } from '@bindery/event-store';
import type { ServiceStatus } from '@bindery/service-kit';
import { followUp } from '@bindery/telemetry';
import { aggregateOf } from '../aggregates.ts';
import type { DomainEvent, Recorded } from '../decider.ts';
import type { HeadStartRule, Reactor } from '../service-runtime.ts';
import type { EpochPosition } from '../shared/epoch.ts';
import { reasonOf } from '../shared/failures.ts';
import type { HeldLease } from '../shared/lease.ts';
import { Backoff, pause } from '../shared/loop.ts';
import { Lru } from '../shared/lru.ts';
import { Pace } from '../shared/pace.ts';
import { Worker, type WorkerParts } from '../shared/worker.ts';
import { HeadStart } from './head-start.ts';
import { RetryWishes } from './parked-streams.ts';
import { Parking } from './parking.ts';

/** Streams that are reacted to at the same time. */
const CONCURRENCY = 8;
const REMEMBERED = 1000;

/** One turn as the active one. */
interface Turn {
  readonly parking: Parking;
  readonly epoch: EpochPosition;
  readonly signal: AbortSignal;
  readonly succeeded: () => void;
  readonly held: HeadStart;
  /** Everything up to here was read. */
  read: Position;
}

/** What an event says of itself, or `otherwise` where it cannot be understood. */
const told = (ask: () => string | undefined, otherwise?: string): string | undefined => {
  try {
    return ask();
  } catch {
    return otherwise; // what is not settled is reacted to, and there a failure is told
  }
};

type ReactorStatus = NonNullable<ServiceStatus['reactors']>[number];

/** Runs a {@link Reactor}: in order per stream, several streams at once, failing streams aside (DESIGN section 5). */
export class ReactorWorker extends Worker {
  readonly #reactor: Reactor;
  readonly #aggregates: ReadonlySet<string>;
  readonly #handles: ReadonlySet<string>;
  readonly #settlers: { readonly aggregates: ReadonlySet<string>; readonly types: ReadonlySet<string> };
  #parking: Parking | undefined;
  /** Revision up to which a stream that was aside is done, where the main loop may come by later. */
  readonly #handled = new Lru<number>(REMEMBERED);
  readonly #retries = new Set<Promise<void>>();
  /** Ends the wait of a parked stream. */
  readonly #wakes = new Map<string, AbortController>();
  /** Parked streams that somebody wanted to be tried while they were: that try began before, so there is another at once. */
  readonly #again = new Set<string>();

  constructor(parts: WorkerParts, reactor: Reactor) {
    super(parts, `reactor-${reactor.name}`);
    this.#reactor = reactor;
    this.#aggregates = new Set(reactor.aggregates);
    this.#handles = new Set<string>(reactor.handles);
    const { aggregates = [], types = [] } = reactor.headStart?.settledBy ?? {};
    this.#settlers = { aggregates: new Set(aggregates), types: new Set(types) };
  }

  /** Streams that failed often enough to count as parked. */
  parked(): readonly { readonly stream: string; readonly reason: string; readonly since: string }[] {
    const { failuresUntilAlarm } = this.parts.tuning;
    const documents = this.#parking?.list() ?? [];
    return documents
      .filter(({ attempts }) => attempts >= failuresUntilAlarm)
      .map(({ stream, reason, since }) => ({ stream, reason, since }));
  }

  async status(): Promise<ReactorStatus> {
    const { position, head, lag, oldestMs, state, error } = await this.lag();
    const { name } = this.#reactor;
    const parked = this.parked();
    return { name, position, head, lag, oldestMs, state, parked, ...(error === undefined ? {} : { error }) };
  }

  protected override async follow(lease: HeldLease, epoch: EpochPosition, succeeded: () => void): Promise<void> {
    const { eventStore, readStore, service, prefixes, tuning } = this.parts;
    const parking = await Parking.open(readStore, service, this.#reactor.name);
    await parking.load();
    this.#parking = parking;
    const start = async () => (this.#reactor.from === 'end' ? eventStore.head(prefixes) : 0);
    const { position } = await epoch.takeOver(lease.fence, start);
    this.moved(position);
    const ended = new AbortController();
    const signal = AbortSignal.any([lease.signal, ended.signal]);
    const turn: Turn = { parking, epoch, signal, succeeded, held: new HeadStart(tuning.headStartMs), read: position };
    const tasks: Promise<void>[] = [];
    try {
      for (const { stream } of parking.list()) this.#retryLater(parking, stream, signal);
      this.#keep(this.#watchWishes(parking, signal));
      tasks.push(this.#read(turn));
      if (this.#reactor.headStart !== undefined) tasks.push(this.#reactToUnsettled(turn));
      await Promise.race(tasks);
    } finally {
      ended.abort();
      await Promise.allSettled([...tasks, ...this.#retries]);
    }
  }

  async #read(turn: Turn): Promise<void> {
    const { eventStore, prefixes, tuning, clock } = this.parts;
    const { parking, epoch, signal, succeeded, held } = turn;
    const pace = new Pace(tuning.gatherMs);
    for await (const item of eventStore.subscribe({ after: turn.read, prefixes, signal })) {
      if (item.kind === 'events') {
        const relevant = this.#reactor.headStart ? [] : item.events.filter((event) => this.#isRelevant(event));
        if (this.#reactor.headStart) await this.#holdOrSettle(item.events, turn, this.#reactor.headStart);
        await this.#reactAll(relevant, parking, signal);
        // A stop in the middle leaves the page to the next holder; what was done is done again, to no effect.
        if (signal.aborted) return;
        if (relevant.length > 0) await epoch.save(item.position);
      } else {
        this.live();
        held.caughtUp(clock.now());
      }
      turn.read = item.position;
      this.moved(held.settledUpTo(turn.read));
      succeeded();
      if (item.kind === 'caught-up') await pace.gather(signal);
    }
  }

  /** Nothing is done here: what the log settles is done, and what it does not will be due. */
  async #holdOrSettle(events: readonly RecordedEvent[], turn: Turn, rule: HeadStartRule): Promise<void> {
    const { aggregates } = this.parts;
    const { held, signal } = turn;
    for (const event of events) {
      while (held.full && !signal.aborted) await held.changed(signal);
      const settler = this.#settlers.types.has(event.type) && this.#settlers.aggregates.has(aggregateOf(event.stream));
      const settled = settler ? told(() => rule.settles(aggregates.read(event))) : undefined;
      if (settled !== undefined) held.settle(settled);
      // One that does not tell is reacted to in its time, and if that fails too its stream is parked, and no other.
      const key = this.#isRelevant(event) ? told(() => rule.awaits(aggregates.read(event)), event.id) : undefined;
      if (key !== undefined) held.hold(key, event, turn.read);
      turn.read = event.position;
    }
  }

  /** Reacts to what nobody has settled in time. */
  async #reactToUnsettled(turn: Turn): Promise<void> {
    const { held, parking, epoch, signal } = turn;
    while (!signal.aborted) {
      await held.wait(signal);
      const due = held.due();
      if (due.size === 0) continue;
      await this.#reactAll([...due.values()], parking, signal);
      if (signal.aborted) return;
      for (const [key, event] of due) held.settle(key, event);
      const position = held.settledUpTo(turn.read);
      this.moved(position);
      await epoch.save(position);
    }
  }

  async #reactAll(events: readonly RecordedEvent[], parking: Parking, signal: AbortSignal): Promise<void> {
    const streams = [...Map.groupBy(events, ({ stream }) => stream).values()];
    const next = async (): Promise<void> => {
      for (let stream = streams.shift(); stream !== undefined; stream = streams.shift()) {
        for (const event of stream) {
          if (signal.aborted) return;
          await this.#reactOrPark(event, parking, signal);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(CONCURRENCY, streams.length) }, next));
  }

  async #reactOrPark(event: RecordedEvent, parking: Parking, signal: AbortSignal): Promise<void> {
    if (event.revision <= (this.#handled.peek(event.stream) ?? -1)) return;
    if (parking.has(event.stream)) {
      parking.pass(event.stream, event.revision);
      return;
    }
    try {
      await this.#react(event, signal);
    } catch (error) {
      if (signal.aborted) return;
      await this.#park(parking, event, error);
      this.#retryLater(parking, event.stream, signal);
    }
  }

  async #park(parking: Parking, event: RecordedEvent, error: unknown): Promise<void> {
    const { clock, telemetry, tuning } = this.parts;
    const reason = reasonOf(error);
    const { attempts } = await parking.park(event.stream, event.revision, reason, clock.now().toISOString());
    if (attempts !== tuning.failuresUntilAlarm) return;
    const { stream } = event;
    telemetry.logger.error('a stream is parked', { reactor: this.#reactor.name, stream, event: event.type, reason });
  }

  #retryLater(parking: Parking, stream: string, signal: AbortSignal): void {
    this.#keep(this.#retry(parking, stream, signal));
  }

  #keep(task: Promise<void>): void {
    this.#retries.add(task);
    void task.finally(() => this.#retries.delete(task));
  }

  /** Tries a parked stream again, with growing waits, until it has come up to the main loop. */
  async #retry(parking: Parking, stream: string, signal: AbortSignal): Promise<void> {
    const { tuning, telemetry } = this.parts;
    const backoff = new Backoff(tuning.backoffMs, tuning.maxBackoffMs);
    for (;;) {
      const wake = new AbortController();
      this.#wakes.set(stream, wake);
      if (this.#again.delete(stream)) wake.abort();
      await backoff.wait(AbortSignal.any([signal, wake.signal]));
      this.#wakes.delete(stream);
      if (signal.aborted) return;
      try {
        if (await this.#catchUp(parking, stream, signal, backoff)) {
          this.#again.delete(stream);
          return;
        }
      } catch (error) {
        telemetry.logger.debug('a parked stream is tried again later', { stream, reason: reasonOf(error) });
      }
    }
  }

  /** Looks whether somebody wants a parked stream to be tried now. */
  async #watchWishes(parking: Parking, signal: AbortSignal): Promise<void> {
    const { readStore, service, telemetry, tuning } = this.parts;
    while (!signal.aborted) {
      await pause(tuning.wishPollMs, signal);
      if (signal.aborted || parking.list().length === 0) continue;
      try {
        const wishes = await RetryWishes.open(readStore, service);
        for (const stream of await wishes.take(this.#reactor.name)) {
          const wake = this.#wakes.get(stream);
          if (wake !== undefined) wake.abort();
          else if (parking.has(stream)) this.#again.add(stream);
        }
      } catch (error) {
        telemetry.logger.debug('wishes for parked streams are read later', { reason: reasonOf(error) });
      }
    }
  }

  /** @returns true when the stream is released */
  async #catchUp(parking: Parking, stream: string, signal: AbortSignal, backoff: Backoff): Promise<boolean> {
    const { eventStore } = this.parts;
    const from = parking.list().find((parked) => parked.stream === stream)?.revision;
    if (from === undefined) return true;
    let handled = from - 1;
    do {
      for await (const event of eventStore.readStream(stream, { from: handled + 1 })) {
        if (signal.aborted) return false;
        try {
          if (this.#isRelevant(event)) await this.#react(event, signal);
        } catch (error) {
          if (!signal.aborted) await this.#park(parking, event, error);
          return false;
        }
        handled = event.revision;
        backoff.reset();
      }
      this.#handled.set(stream, handled);
    } while (!(await parking.release(stream, handled)));
    return true;
  }

  #isRelevant(event: RecordedEvent): boolean {
    return this.#handles.has(event.type) && this.#aggregates.has(aggregateOf(event.stream));
  }

  async #react(stored: RecordedEvent, signal: AbortSignal): Promise<void> {
    const { telemetry, aggregates, service, clock } = this.parts;
    const event = aggregates.read(stored);
    const { tracer } = telemetry;
    if (!tracer.enabled) return this.#bounded(event, signal);
    const attributes = { 'bindery.event_type': event.type, 'bindery.stream': event.stream };
    const { traceparent, time } = event.metadata;
    const options = { kind: 'consumer' as const, attributes, ...followUp(traceparent, time, clock.now().getTime()) };
    await tracer.span(`react ${service} ${this.#reactor.name}`, options, () => this.#bounded(event, signal));
  }

  async #bounded(event: Recorded<DomainEvent>, signal: AbortSignal): Promise<void> {
    const { reactionMs } = this.parts.tuning;
    signal.throwIfAborted();
    const limit = new AbortController();
    const over = Promise.withResolvers<never>();
    const end = (reason: unknown): void => {
      limit.abort(reason);
      over.reject(reason);
    };
    const timer = setTimeout(() => end(new Error(`no reaction within ${reactionMs} ms`)), reactionMs);
    // By hand: a composite signal for every event costs more than most reactions.
    const onAbort = (): void => end(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([this.#reactor.react(event, limit.signal), over.promise]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }
}
