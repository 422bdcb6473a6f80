import type { Collection, CollectionSpec, Write } from '@bindery/read-store';
import type { DomainEvent, Recorded } from './decider.ts';

/** Reads documents of the projection's own collections as they are after all earlier events of the batch. */
export interface ProjectionReader {
  get<T>(collection: CollectionSpec, id: string): Promise<T | undefined>;
}

/** A document that applying an event reads. */
export interface ProjectionRead {
  readonly collection: CollectionSpec;
  readonly id: string;
}

export interface ProjectionWrite {
  readonly collection: CollectionSpec;
  readonly write: Write<unknown>;
}

/**
 * A read model. `inline` ones belong to the aggregate whose stream feeds them: the command that appended writes them before
 * it answers, and the runner repairs what a crash left behind. `async` ones follow with a checkpoint and a measured lag.
 * Applying an event twice changes nothing: writes are guarded by `guard(event)` (stream revision for inline, log position
 * for async), which the framework sets.
 */
export interface Projection<Event extends DomainEvent = DomainEvent> {
  /** Unique in the service; `spaces`, `change-requests`, `backlinks`. */
  readonly name: string;
  readonly mode: 'inline' | 'async';
  /** Aggregates whose streams feed it (stream prefix `<aggregate>-`); `all`: every stream of the service. */
  readonly aggregates: readonly string[] | 'all';
  /** Event types it reads; others only advance the checkpoint. `all`: also those that nobody knows yet. */
  readonly handles: readonly Event['type'][] | 'all';
  /** All collections it writes. */
  readonly collections: readonly CollectionSpec[];
  /** Documents that `apply` will read for this event, as far as that can be told: of many events they are read together. */
  readonly reads?: (event: Recorded<Event>) => readonly ProjectionRead[];
  /**
   * Of an inline one: its documents are few per stream and small, so that a process keeps those that it wrote, to apply the
   * next event to without reading them again.
   */
  readonly keeps?: boolean;
  /**
   * Pure but for `reader`; never throws for a recorded fact: clamp, default or skip (STYLE: projections).
   *
   * A document of an inline projection belongs to one stream, and does not hold `event.position`: of events appended
   * together only the last one's position is known when the command projects.
   */
  apply(
    event: Recorded<Event>,
    reader: ProjectionReader,
  ): Promise<readonly ProjectionWrite[]> | readonly ProjectionWrite[];
}

/** One document per stream (id = aggregate id), folded from its events. Return null to remove it. */
export interface DocumentPerStream<Event extends DomainEvent, Doc> {
  readonly name: string;
  readonly mode?: 'inline' | 'async';
  readonly aggregate: string;
  readonly collection: CollectionSpec;
  readonly handles: readonly Event['type'][];
  /** See {@link Projection.keeps}. Default: of an inline one; false where documents grow with the content. */
  readonly keeps?: boolean;
  readonly evolve: (document: Doc | undefined, event: Recorded<Event>) => Doc | null | undefined;
}

/** Documents that an event brings with it, each written once (revisions, page documents). */
export interface DocumentsPerEvent<Event extends DomainEvent> {
  readonly name: string;
  readonly mode?: 'inline' | 'async';
  readonly aggregates: readonly string[];
  readonly collections: readonly CollectionSpec[];
  readonly handles: readonly Event['type'][];
  readonly toDocuments: (
    event: Recorded<Event>,
  ) => readonly { readonly collection: CollectionSpec; readonly id: string; readonly document: unknown | null }[];
}

/** Opens the live generation of a projection's collection for queries; follows a rebuild's switch by itself. */
export type LiveCollection = <T>(
  spec: CollectionSpec,
) => Pick<Collection<T>, 'get' | 'getMany' | 'query' | 'count' | 'scan' | 'spec'>;

/** Aggregate id of a stream name. */
export const aggregateIdOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1);
