import type { Cache } from '@bindery/cache';
import type { EventStore } from '@bindery/event-store';
import type { CloudEvent, MessageBus } from '@bindery/message-bus';
import type { ReadStore } from '@bindery/read-store';
import type { Clock, ServiceStatus } from '@bindery/service-kit';
import type { Telemetry } from '@bindery/telemetry';
import type { AggregateDefinition, DomainCommand, DomainEvent, Recorded } from './decider.ts';
import type { LiveCollection, Projection } from './projection.ts';
import type { ParkedStreams } from './reactors/parked-streams.ts';
import type { Repository } from './repository.ts';
import type { RuntimeTuning } from './tuning.ts';

/** Locks that leases are made of. */
export type Locks = Pick<Cache, 'acquire' | 'renew' | 'release'>;

/** The ports that every event-sourced service is given by its composition root. */
export interface ServicePorts {
  readonly eventStore: EventStore;
  readonly readStore: ReadStore;
  readonly bus: MessageBus;
  readonly cache: Cache;
  /** Where the leases of publisher, projections and reactors are. Default: the cache, for what runs in one process. */
  readonly locks?: Locks;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
}

/** A public event before the envelope is put around it. */
export interface PublicEvent {
  /** Type with version: `bindery.content.space.created.v1`. */
  readonly type: string;
  /** Aggregate id: partition key and CloudEvents subject. */
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Domain event -> public events (usually none or one). Pure. Several get ids `<event id>.<n>` from the second on. */
export type PublicMapping = (event: Recorded<DomainEvent>) => readonly PublicEvent[];

/**
 * Reacts to the service's own events by commands: the persisted half of a process manager. At least once, in order per
 * stream; a failure is retried with back-off, then the stream is parked with the reason (visible in status and metrics)
 * and tried again later; others go on. Effects are idempotent: event ids derived from the causing event.
 */
export interface Reactor<Event extends DomainEvent = DomainEvent> {
  readonly name: string;
  readonly aggregates: readonly string[];
  readonly handles: readonly Event['type'][];
  /** For one that only finishes what whoever appended the event finishes a moment later, unless it dies before. */
  readonly headStart?: HeadStartRule;
  /** Where a reactor that is new to a log starts. Default `beginning`. */
  readonly from?: 'beginning' | 'end';
  react(event: Recorded<Event>, signal: AbortSignal): Promise<void>;
}

/**
 * A reactor with a head start reacts only to events that nobody has settled within `headStartMs`. What is settled is known
 * from the log alone, so the usual case costs neither a load nor a conflict with the one who is at it, in whichever process.
 */
export interface HeadStartRule {
  /** What an event of `handles` waits for; undefined: it is none for this reactor. */
  awaits(event: Recorded<DomainEvent>): string | undefined;
  /** Aggregates and types of the events that settle one. */
  readonly settledBy: { readonly aggregates: readonly string[]; readonly types: readonly string[] };
  /** What such an event settles. */
  settles(event: Recorded<DomainEvent>): string;
}

export interface RuntimeOptions {
  readonly service: string;
  readonly ports: ServicePorts;
  readonly projections: readonly Projection[];
  readonly reactors?: readonly Reactor[];
  readonly publicMapping: PublicMapping;
  /** Checks a public event against the catalogue; throws to refuse (PITFALLS 52). */
  readonly validatePublic: (event: CloudEvent) => void;
  /** Other limits and rhythms than the default ones. */
  readonly tuning?: Partial<RuntimeTuning>;
}

/** Everything of DESIGN section 4 and 5 for one service, wired. */
export interface ServiceRuntime {
  /** Streams that reactors have put aside, in whichever process these run; what an operator sees and does. */
  readonly parkedStreams: Pick<ParkedStreams, 'list' | 'retry'>;
  repository<S, C extends DomainCommand, E extends DomainEvent>(
    aggregate: AggregateDefinition<S, C, E>,
  ): Repository<S, C, E>;
  readonly live: LiveCollection;
  /**
   * Brings the inline documents of one stream up to its end; for readers that know a revision should be there
   * (another replica wrote it, or a crash came between append and projection).
   */
  repair(stream: string): Promise<void>;
  /** Waits (bounded) until an async projection has handled `position`; false when it has not in time. */
  waitFor(projection: string, position: number, timeoutMs: number): Promise<boolean>;
  start(): Promise<void>;
  stop(): Promise<void>;
  notReady(): readonly string[];
  status(): Promise<ServiceStatus>;
  rebuild(projections?: readonly string[]): Promise<{ readonly events: number; readonly durationMs: number }>;
}
