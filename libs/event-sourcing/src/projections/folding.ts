import type { Collection, CollectionSpec, Write } from '@bindery/read-store';
import type { DomainEvent, Recorded } from '../decider.ts';
import type { Projection, ProjectionReader, ProjectionWrite } from '../projection.ts';
import { asStored } from '../shared/json.ts';

/** The collections of one generation of a projection, by name. */
export type Collections = ReadonlyMap<string, Collection<unknown>>;

/** An element of `ReadStore.batch`. */
export interface BatchWrite {
  readonly collection: Collection<unknown>;
  readonly write: Write<unknown>;
}

export interface Folded {
  /** The last write of each document, in the order in which they were last written. */
  readonly writes: readonly BatchWrite[];
  /** The event that could not be applied; those before it are in `writes`, those after it were not looked at. */
  readonly failure?: { readonly event: Recorded<DomainEvent>; readonly error: unknown };
}

interface Entry {
  readonly collection: Collection<unknown>;
  readonly id: string;
  readonly revision: number;
  /** Undefined: there is none, or it was removed. */
  document: unknown;
  /** Written by this fold rather than read from the store. */
  readonly dirty: boolean;
  /** The store has no newer one; checked when it is first read. */
  checked: boolean;
  plain: boolean;
}

/**
 * Applies events to a projection in memory and answers the writes that remain (PITFALLS 32: guarded, so that applying
 * them twice, or beside another process that does the same, changes nothing).
 */
export const foldEvents = async (
  projection: Projection,
  collections: Collections,
  events: readonly Recorded<DomainEvent>[],
): Promise<Folded> => {
  const overlay = new Overlay(projection, collections);
  for (const event of events) {
    try {
      const writes = await projection.apply(event, overlay);
      const guard = projection.mode === 'inline' ? event.revision : event.position;
      for (const write of writes) overlay.write(write, guard);
    } catch (error) {
      return { writes: overlay.writes(), failure: { event, error } };
    }
  }
  return { writes: overlay.writes() };
};

/** Documents as they are after the events applied so far. */
class Overlay implements ProjectionReader {
  readonly #projection: Projection;
  readonly #collections: Collections;
  readonly #entries = new Map<string, Entry>();

  constructor(projection: Projection, collections: Collections) {
    this.#projection = projection;
    this.#collections = collections;
  }

  async get<T>(spec: CollectionSpec, id: string): Promise<T | undefined> {
    const collection = this.#open(spec);
    const key = `${spec.name}\n${id}`;
    let entry = this.#entries.get(key);
    if (entry === undefined || !entry.checked) {
      const stored = await collection.get(id);
      if (stored !== undefined && (entry === undefined || stored.revision >= entry.revision)) {
        const { revision, document } = stored;
        entry = { collection, id, revision, document, dirty: false, checked: true, plain: true };
      } else {
        entry ??= { collection, id, revision: -1, document: undefined, dirty: false, checked: true, plain: true };
        entry.checked = true;
      }
      this.#entries.set(key, entry);
    }
    if (!entry.plain) {
      entry.document = asStored(entry.document);
      entry.plain = true;
    }
    return entry.document as T | undefined; // the projection knows the shape of its own documents
  }

  /** The guard is the framework's; the revision that the projection put in is not looked at. */
  write({ collection: spec, write }: ProjectionWrite, guard: number): void {
    const collection = this.#open(spec);
    const { id } = write;
    const key = `${spec.name}\n${id}`;
    const before = this.#entries.get(key);
    // What is stored has seen this event already.
    if (before !== undefined && !before.dirty && before.revision >= guard) return;
    this.#entries.delete(key);
    this.#entries.set(key, {
      collection,
      id,
      revision: guard,
      document: write.kind === 'put' ? write.document : undefined,
      dirty: true,
      checked: before?.checked ?? false,
      plain: write.kind === 'remove',
    });
  }

  writes(): readonly BatchWrite[] {
    const writes: BatchWrite[] = [];
    for (const { collection, id, revision, document, dirty } of this.#entries.values()) {
      if (!dirty) continue;
      const write: Write<unknown> =
        document === undefined ? { kind: 'remove', id, revision } : { kind: 'put', id, revision, document };
      writes.push({ collection, write });
    }
    return writes;
  }

  #open(spec: CollectionSpec): Collection<unknown> {
    const collection = this.#collections.get(spec.name);
    if (collection === undefined) throw new TypeError(`${this.#projection.name} does not declare ${spec.name}`);
    return collection;
  }
}
