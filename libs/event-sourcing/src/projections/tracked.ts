import type { Position } from '@bindery/event-store';
import { aggregateOf } from '../aggregates.ts';
import type { DomainEvent, Recorded } from '../decider.ts';
import type { Projection } from '../projection.ts';
import type { Bell } from '../shared/bell.ts';
import type { Collections } from './folding.ts';
import { KeptDocuments } from './kept.ts';

export type ProjectionState = 'live' | 'catching-up' | 'rebuilding' | 'failed';

interface Waiter {
  readonly position: Position;
  readonly resolve: () => void;
}

/** A projection and how far it is. */
export class Tracked {
  readonly projection: Projection;
  /** Undefined: all. */
  readonly #aggregates: ReadonlySet<string> | undefined;
  readonly #handles: ReadonlySet<string> | undefined;
  generation = 0;
  collections: Collections = new Map();
  /** Of commands, in the present generation; for inline ones. */
  readonly kept = new KeptDocuments();
  /** Everything up to here is in its documents. */
  position: Position = 0;
  /** The position that is stored as checkpoint. */
  saved: Position = 0;
  /** Events looked at since then. */
  unsaved = 0;
  state: ProjectionState = 'catching-up';
  error: string | undefined;
  #waiters: Waiter[] = [];
  readonly #bell: Bell | undefined;

  /** @param bell rung when it moves, and when somebody begins to wait for that */
  constructor(projection: Projection, bell?: Bell) {
    this.projection = projection;
    this.#bell = bell;
    this.#aggregates = projection.aggregates === 'all' ? undefined : new Set(projection.aggregates);
    this.#handles = projection.handles === 'all' ? undefined : new Set(projection.handles);
  }

  get inline(): boolean {
    return this.projection.mode === 'inline';
  }

  /** Whether events of this aggregate feed it. */
  follows(aggregate: string): boolean {
    return this.#aggregates === undefined || this.#aggregates.has(aggregate);
  }

  handles(event: Recorded<DomainEvent>): boolean {
    return (this.#handles?.has(event.type) ?? true) && this.follows(aggregateOf(event.stream));
  }

  /** Its documents in another generation from now on. */
  moveTo(generation: number, collections: Collections, position: Position): void {
    this.generation = generation;
    this.collections = collections;
    this.kept.clear();
    this.position = position;
    this.saved = position;
    this.unsaved = 0;
  }

  advance(position: Position): void {
    if (position <= this.position) return;
    this.position = position;
    this.#bell?.ring();
    if (this.#waiters.length === 0) return;
    const due = this.#waiters.filter((waiter) => waiter.position <= position);
    this.#waiters = this.#waiters.filter((waiter) => waiter.position > position);
    for (const { resolve } of due) resolve();
  }

  /** Somebody waits for a position. */
  get waitedFor(): boolean {
    return this.#waiters.length > 0;
  }

  /** Resolves to whether `position` was handled within `timeoutMs`. */
  async waitFor(position: Position, timeoutMs: number): Promise<boolean> {
    if (this.position >= position) return true;
    return new Promise((resolve) => {
      const waiter = {
        position,
        resolve: () => {
          clearTimeout(timer);
          resolve(true);
        },
      };
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        resolve(false);
      }, timeoutMs);
      this.#waiters.push(waiter);
      this.#bell?.ring();
    });
  }
}
