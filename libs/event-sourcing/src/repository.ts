import type { Position } from '@bindery/event-store';
import type { DomainCommand, DomainEvent, Recorded } from './decider.ts';

/** Facts of the request that go into the metadata of its events. Made from an `OperationContext` by `commandMetadata`. */
export interface CommandMetadata {
  readonly correlationId: string;
  readonly causationId: string;
  readonly actor: { readonly kind: 'user' | 'token' | 'integration' | 'service'; readonly id: string };
  /** Id of the token that the actor used. */
  readonly tokenId?: string;
  /** Address of the caller, sealed under the actor's key (`Principal.origin`). */
  readonly origin?: string;
  readonly organizationId?: string;
  readonly traceparent?: string;
  readonly now: Date;
  /**
   * Called once per command, when it is handed over; the same answer when the same command is repeated. The ids of its
   * events are derived from it (`commandEventId`).
   */
  readonly eventId: () => string;
}

export interface Handled<State, Event extends DomainEvent> {
  readonly state: State;
  /** Revision of the stream afterwards; -1 when it does not exist. */
  readonly revision: number;
  /** Empty when nothing changed. */
  readonly events: readonly Recorded<Event>[];
  /** Of the last event appended with this command; those of `events` are not exact when several were appended together. */
  readonly position: Position;
}

/**
 * Loads, decides, appends with the expected revision and projects the aggregate's own documents, so that what it
 * acknowledged is visible to the next read (DESIGN section 4).
 *
 * Commands on one stream that arrive while an append is under way are decided one after the other on the evolving state
 * and appended together: one fsync for all, no conflicts within a process. A conflict with another process reloads and
 * decides again, at most `maxAttempts` times, then 409.
 */
export interface Repository<State, Command extends DomainCommand, Event extends DomainEvent> {
  /**
   * @param options.expectedRevision refuses with 412 (`Problem` precondition) when the stream is elsewhere (`If-Match`)
   * @param options.likelyNew a hint that the stream does not exist, which saves looking; the append finds out if it does
   * @param options.create the stream must be new: refuses otherwise, unless the events there are this very command's (a retry)
   */
  handle(
    id: string,
    command: Command | ((state: State, revision: number) => Command),
    metadata: CommandMetadata,
    options?: { readonly expectedRevision?: number; readonly create?: boolean; readonly likelyNew?: boolean },
  ): Promise<Handled<State, Event>>;
  /** State now, from the stream (through a bounded cache that is brought up to date from the stream on every load). */
  load(id: string): Promise<{ readonly state: State; readonly revision: number }>;
  /**
   * State as this process saw it last, without reading; undefined when it is not at hand. It may be an older one: only for
   * what, once true, stays true.
   */
  known(id: string): State | undefined;
}
