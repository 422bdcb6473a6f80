import type { Collection, CollectionSpec, Write } from '@bindery/read-store';
import type { DomainEvent, Recorded } from '../decider.ts';
import type { Projection, ProjectionRead, ProjectionReader, ProjectionWrite } from '../projection.ts';
import { asStored } from '../shared/json.ts';

/** The collections of one generation of a projection, by name. */
export type Collections = ReadonlyMap<string, Collection<unknown>>;

/** An element of `ReadStore.batch`. */
export interface BatchWrite {
  readonly collection: Collection<unknown>;
  readonly write: Write<unknown>;
}

/** A document as it is at a revision or position; undefined: there is none. */
export interface KnownDocument {
  readonly revision: number;
  readonly document: unknown;
}

/** By collection and id. */
export type KnownDocuments = ReadonlyMap<string, KnownDocument>;

export interface Folded {
  /** The last write of each document, in the order in which they were last written. */
  readonly writes: readonly BatchWrite[];
  /** The documents that were known before or were read, as they are afterwards. */
  readonly known: KnownDocuments;
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
 * @param known documents that need not be read: they are known to be those before the first event
 */
export const foldEvents = async (
  projection: Projection,
  collections: Collections,
  events: readonly Recorded<DomainEvent>[],
  known?: KnownDocuments,
): Promise<Folded> => {
  const overlay = new Overlay(projection, collections, known);
  if (events.length > 1) await overlay.readAhead(events.flatMap((event) => readsOf(projection, event)));
  for (const event of events) {
    try {
      const writes = await projection.apply(event, overlay);
      const guard = projection.mode === 'inline' ? event.revision : event.position;
      for (const write of writes) overlay.write(write, guard);
    } catch (error) {
      return { writes: overlay.writes(), known: overlay.known(), failure: { event, error } };
    }
  }
  return { writes: overlay.writes(), known: overlay.known() };
};

/** Nothing where it cannot be told: `apply` meets the failure in its turn, when it is known which event it is. */
const readsOf = ({ reads }: Projection, event: Recorded<DomainEvent>): readonly ProjectionRead[] => {
  try {
    return reads?.(event) ?? [];
  } catch {
    return [];
  }
};

/** Documents of one read. */
const AHEAD = 200;

const keyOf = (collection: string, id: string): string => `${collection}\n${id}`;

/** Documents as they are after the events applied so far. */
class Overlay implements ProjectionReader {
  readonly #projection: Projection;
  readonly #collections: Collections;
  readonly #entries = new Map<string, Entry>();
  readonly #before: KnownDocuments | undefined;
  /** Read before they were asked for. */
  readonly #ahead = new Map<string, KnownDocument | undefined>();

  constructor(projection: Projection, collections: Collections, known: KnownDocuments | undefined) {
    this.#projection = projection;
    this.#collections = collections;
    this.#before = known;
  }

  /** Reads documents that will be asked for, together. */
  async readAhead(reads: readonly ProjectionRead[]): Promise<void> {
    for (const [name, wanted] of Map.groupBy(reads, ({ collection }) => collection.name)) {
      const [first] = wanted;
      if (first === undefined) continue;
      const ids = [...new Set(wanted.map(({ id }) => id))].filter((id) => !this.#before?.has(keyOf(name, id)));
      const collection = this.#open(first.collection);
      for (let from = 0; from < ids.length; from += AHEAD) {
        const part = ids.slice(from, from + AHEAD);
        const found = await collection.getMany(part);
        for (const id of part) this.#ahead.set(keyOf(name, id), found.get(id));
      }
    }
  }

  async get<T>(spec: CollectionSpec, id: string): Promise<T | undefined> {
    const collection = this.#open(spec);
    const key = keyOf(spec.name, id);
    let entry = this.#entries.get(key);
    if (entry === undefined || !entry.checked) {
      const known = this.#before?.get(key);
      const stored = known ?? (this.#ahead.has(key) ? this.#ahead.get(key) : await collection.get(id));
      if (stored !== undefined && (entry === undefined || stored.revision >= entry.revision)) {
        const { revision, document } = stored;
        entry = { collection, id, revision, document, dirty: false, checked: true, plain: known === undefined };
      } else {
        entry ??= { collection, id, revision: -1, document: undefined, dirty: false, checked: true, plain: true };
        entry.checked = true;
      }
      this.#entries.set(key, entry);
    }
    if (!entry.plain) {
      if (entry.document !== undefined) entry.document = asStored(entry.document);
      entry.plain = true;
    }
    return entry.document as T | undefined; // the projection knows the shape of its own documents
  }

  /**
   * The guard is the framework's. Only a removal may name a higher revision: that of what belongs to another stream, whose
   * revisions are others, and whose later writes are to be kept out too.
   */
  write({ collection: spec, write }: ProjectionWrite, guard: number): void {
    const collection = this.#open(spec);
    const { id } = write;
    const revision = write.kind === 'remove' ? Math.max(guard, write.revision) : guard;
    const key = keyOf(spec.name, id);
    const before = this.#entries.get(key);
    // What is stored has seen this event already, or was removed for good.
    if (before !== undefined && (before.dirty ? before.revision > revision : before.revision >= revision)) return;
    this.#entries.delete(key);
    this.#entries.set(key, {
      collection,
      id,
      revision,
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

  known(): KnownDocuments {
    const known = new Map(this.#before);
    for (const [key, { revision, document, checked }] of this.#entries) {
      if (checked) known.set(key, { revision, document });
      else known.delete(key);
    }
    return known;
  }

  #open(spec: CollectionSpec): Collection<unknown> {
    const collection = this.#collections.get(spec.name);
    if (collection === undefined) throw new TypeError(`${this.#projection.name} does not declare ${spec.name}`);
    return collection;
  }
}
