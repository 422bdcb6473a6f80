import type { EventStore, Position } from '@bindery/event-store';
import type { Aggregates } from '../aggregates.ts';
import type { AggregateDefinition, DomainCommand, DomainEvent, Recorded } from '../decider.ts';
import { Lru } from '../shared/lru.ts';

/** Ids of so many last events of a stream are kept, by which a repeated command is recognised. */
const RECENT = 100;

/** An aggregate at a revision of its stream. */
export interface Snapshot<State> {
  readonly state: State;
  /** -1 when the stream does not exist. */
  readonly revision: number;
  /** Of the last event; 0 when there is none. */
  readonly position: Position;
  /** Ids of the last events, oldest first; the last one is that of `revision`. */
  readonly recent: readonly string[];
}

/** Revision of the event with this id among the last ones of the stream, or -1. */
export const revisionOfRecent = (snapshot: Snapshot<unknown>, eventId: string): number => {
  const index = snapshot.recent.lastIndexOf(eventId);
  return index < 0 ? -1 : snapshot.revision - (snapshot.recent.length - 1 - index);
};

/** States of one aggregate's streams, kept in a bounded cache and brought up to date from the stream on every load. */
export class Snapshots<State, Command extends DomainCommand, Event extends DomainEvent> {
  readonly #definition: AggregateDefinition<State, Command, Event>;
  readonly #store: EventStore;
  readonly #aggregates: Aggregates;
  readonly #cache: Lru<Snapshot<State>>;

  constructor(
    definition: AggregateDefinition<State, Command, Event>,
    store: EventStore,
    aggregates: Aggregates,
    limit: number,
  ) {
    this.#definition = definition;
    this.#store = store;
    this.#aggregates = aggregates;
    this.#cache = new Lru(limit);
  }

  /** The state now. Reads only what came after the cached revision. */
  async load(stream: string): Promise<Snapshot<State>> {
    const cached = this.#cache.get(stream) ?? this.initial();
    const events: Recorded<Event>[] = [];
    let snapshot = cached;
    for await (const event of this.#store.readStream(stream, { from: cached.revision + 1 })) {
      events.push(this.recorded(event));
      if (events.length < RECENT) continue; // a long stream is folded in pieces, never held whole
      snapshot = this.advance(snapshot, events);
      events.length = 0;
    }
    if (events.length > 0) snapshot = this.advance(snapshot, events);
    if (snapshot !== cached) this.keep(stream, snapshot);
    return snapshot;
  }

  /** The newest state that is at hand. */
  known(stream: string): Snapshot<State> | undefined {
    return this.#cache.peek(stream);
  }

  /** The snapshot after more events, which follow it without a gap. */
  advance(snapshot: Snapshot<State>, events: readonly Recorded<Event>[]): Snapshot<State> {
    const last = events.at(-1);
    if (last === undefined) return snapshot;
    const state = events.reduce<State>(
      (before, event) => this.#definition.decider.evolve(before, event),
      snapshot.state,
    );
    return this.advanceTo(snapshot, state, events);
  }

  /** As `advance`, when the state has been folded already. */
  advanceTo(snapshot: Snapshot<State>, state: State, events: readonly Recorded<Event>[]): Snapshot<State> {
    const last = events.at(-1);
    if (last === undefined) return snapshot;
    const recent = [...snapshot.recent, ...events.map(({ id }) => id)].slice(-RECENT);
    return { state, revision: last.revision, position: last.position, recent };
  }

  /** Remembers a snapshot unless a newer one is there. */
  keep(stream: string, snapshot: Snapshot<State>): void {
    const known = this.#cache.peek(stream);
    if (known === undefined || known.revision < snapshot.revision) this.#cache.set(stream, snapshot);
  }

  /** A stored event of this aggregate in its newest version. */
  recorded(event: Parameters<Aggregates['read']>[0]): Recorded<Event> {
    return this.#aggregates.read(event) as Recorded<Event>; // the stream holds this aggregate's events alone
  }

  /** Of a stream that does not exist. */
  initial(): Snapshot<State> {
    return { state: this.#definition.decider.initialState(), revision: -1, position: 0, recent: [] };
  }
}
