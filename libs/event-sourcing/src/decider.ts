import type { RecordedEvent } from '@bindery/event-store';

/** The shape of every domain event: past-tense name and JSON data (STYLE: Names). */
export interface DomainEvent {
  readonly type: string;
  readonly data: unknown;
}

/** The shape of every command: imperative name and data. Time and ids come in with it; deciders have neither clock nor randomness. */
export interface DomainCommand {
  readonly type: string;
  readonly data: unknown;
}

/**
 * An aggregate's rules as pure functions (DESIGN section 4). `decide` throws a `Problem` when it refuses, and returns no
 * events when nothing changes. `evolve` never throws, whatever it is given.
 */
export interface Decider<State, Command extends DomainCommand, Event extends DomainEvent> {
  readonly initialState: () => State;
  readonly decide: (command: Command, state: State) => readonly Event[];
  readonly evolve: (state: State, event: Event) => State;
}

/** A stored event with its domain type. */
export type Recorded<Event extends DomainEvent> = Omit<RecordedEvent, 'type' | 'data'> & Event;

/** Turns the data of version n into that of version n + 1; pure and total. Registered per event type, in order of versions from 1. */
export type Upcaster = (data: unknown) => unknown;

export interface AggregateDefinition<State, Command extends DomainCommand, Event extends DomainEvent> {
  /** `<service>.<aggregate>`; the stream of an id is `<name>-<id>`. */
  readonly name: string;
  readonly decider: Decider<State, Command, Event>;
  /** By event type. `schemaVersion` of new events = 1 + number of upcasters. */
  readonly upcasters?: Readonly<Record<string, readonly Upcaster[]>>;
}

/** Name of the stream of an aggregate. */
export const streamOf = (aggregate: { readonly name: string }, id: string): string => `${aggregate.name}-${id}`;

/** For the default of a `switch` over commands: a forgotten case does not compile. */
export const assertNever = (value: never): never => {
  throw new Error(`unexpected ${JSON.stringify(value)}`);
};
/** For the default of `evolve`: a forgotten event does not compile, a newer one than this binary knows changes nothing. */
export const ignoreUnknown = <State>(state: State, _event: never): State => state;
