/**
 * A position in the log of one event store: grows, has gaps, means nothing else. No arithmetic on it (PITFALLS 14).
 * A safe integer: EventStoreDB's commit positions stay below 2^53 for logs of up to 8 petabytes.
 */
export type Position = number;

/** What must be true of the stream for an append: it does not exist yet, or its last event has this revision. */
export type ExpectedRevision = 'no-stream' | number;

/** Who caused an event, and in which request; travels with the event for ever. Never personal data (PITFALLS 39). */
export interface EventMetadata {
  /** Groups everything that one request caused. */
  readonly correlationId: string;
  /** The request or event that directly caused this one. */
  readonly causationId: string;
  readonly actor: { readonly kind: 'user' | 'token' | 'integration' | 'service'; readonly id: string };
  /** The token that the actor used: its id, never its secret. */
  readonly tokenId?: string;
  /** Where the request came from: an address sealed under the actor's key, nothing to whoever lacks that key. */
  readonly origin?: string;
  readonly organizationId?: string;
  /** W3C trace context of the span that appended. */
  readonly traceparent?: string;
  /** Version of the event type's schema; older ones are upcast on read. */
  readonly schemaVersion: number;
  /** ISO time of the command, from the injected clock. */
  readonly time: string;
}

/** An event to append. */
export interface EventData {
  /** Lower-case UUID; made once per command, the same on every retry (PITFALLS 9). Version 7 is kindest to the store's index. */
  readonly id: string;
  readonly type: string;
  /** JSON; encoded before anything is written (PITFALLS 8). */
  readonly data: unknown;
  readonly metadata: EventMetadata;
}

/** An event as stored. */
export interface RecordedEvent {
  readonly id: string;
  readonly stream: string;
  /** Place in its stream, from 0 without gaps. */
  readonly revision: number;
  readonly position: Position;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: EventMetadata;
}

export interface AppendResult {
  /** Revision of the last event appended. */
  readonly revision: number;
  readonly position: Position;
}

export interface ReadOptions {
  /** First revision wanted, inclusive. Forwards from 0 and backwards from the end by default. */
  readonly from?: number;
  readonly direction?: 'forwards' | 'backwards';
  /** At most so many events; unbounded streams are read in pages underneath, never held whole. */
  readonly limit?: number;
}

export interface ReadAllOptions {
  /** Exclusive: events after this position. From the beginning by default. */
  readonly after?: Position;
  /** Only streams whose name starts with one of these; all by default. */
  readonly prefixes?: readonly string[];
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** What a subscription yields: pages of events in order, then a mark whenever it has reached the end of the log. */
export type SubscriptionItem =
  | {
      readonly kind: 'events';
      readonly events: readonly RecordedEvent[] /** everything up to here was looked at, matching or not */;
      readonly position: Position;
    }
  | { readonly kind: 'caught-up'; readonly position: Position };

/** The append failed because the stream is elsewhere. `actual` is -1 for a stream that does not exist. */
export class WrongExpectedRevision extends Error {
  readonly code = 'event_store.wrong_expected_revision';
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly actual: number;
  constructor(stream: string, expected: ExpectedRevision, actual: number) {
    super(`stream ${stream} is at revision ${actual}, expected ${expected}`);
    this.stream = stream;
    this.expected = expected;
    this.actual = actual;
  }
}

/** An event with this id is already in the store, elsewhere. Ids are made once per command, so this is a bug of the caller. */
export class EventIdTaken extends Error {
  readonly code = 'event_store.event_id_taken';
  readonly eventId: string;
  constructor(eventId: string) {
    super(`event id ${eventId} is already in use`);
    this.eventId = eventId;
  }
}

/** The store cannot be reached or is overloaded; nothing is known about the outcome of a write. Worth a retry with the same ids. */
export class EventStoreUnavailable extends Error {
  readonly code = 'event_store.unavailable';
}

/** An append that no store takes, or that this one is set not to take; the same again is refused again. */
export class AppendTooLarge extends TypeError {
  readonly code = 'event_store.append_too_large';
}

/** The event store port (DESIGN section 4): what the product needs, not what an engine offers. */
export interface EventStore {
  /**
   * Appends all events atomically and durably (fsync'ed before it resolves).
   * Appending the same event ids again with the same expectation writes nothing and answers the first result.
   * @throws WrongExpectedRevision, EventStoreUnavailable, EventIdTaken, AppendTooLarge, TypeError when an event is not JSON or an id not a UUID
   */
  append(stream: string, events: readonly EventData[], expected: ExpectedRevision): Promise<AppendResult>;
  /** Events of one stream; nothing when it does not exist. */
  readStream(stream: string, options?: ReadOptions): AsyncIterable<RecordedEvent>;
  /** Events of all streams in log order, up to the end of the log. Throws the reason when `signal` aborts: it is not complete. */
  readAll(options?: ReadAllOptions): AsyncIterable<RecordedEvent>;
  /**
   * Catches up and stays live without a gap or a repeat, until `signal` aborts (then it ends normally). A drop is
   * re-subscribed by the adapter. Pull-based: the next page is read when the consumer asks, so a slow one holds nothing up.
   */
  subscribe(options: {
    readonly after?: Position;
    readonly prefixes?: readonly string[];
    readonly signal: AbortSignal;
  }): AsyncIterable<SubscriptionItem>;
  /** Position of the last event of the log, or 0 when empty: what "caught up" is measured against (PITFALLS 6). */
  head(prefixes?: readonly string[]): Promise<Position>;
  /** Number of events stored; an operator's figure. */
  count(): Promise<number>;
  /** Finishes pending appends, then closes. Idempotent. */
  close(): Promise<void>;
}
