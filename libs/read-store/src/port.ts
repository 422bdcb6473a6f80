/** JSON scalar that can be indexed. Missing fields index as null. */
export type Scalar = string | number | boolean | null;

/** Declares an index over top-level or dotted fields of the documents. Array fields index each element (`multi`). */
export interface IndexSpec {
  readonly name: string;
  readonly fields: readonly string[];
  /** No two documents share these values (documents where any of them is missing or null are exempt). */
  readonly unique?: boolean;
  /** The single field is an array of scalars; `contains` uses this index. */
  readonly multi?: boolean;
}

export interface CollectionSpec {
  /** `<service>.<plural>`, for example `content.spaces`. */
  readonly name: string;
  /** Shape of the documents. A new version is a new, empty collection that is rebuilt (STYLE: projections). */
  readonly version: number;
  readonly indexes: readonly IndexSpec[];
}

export type Condition =
  | Scalar
  | { readonly in: readonly Scalar[] }
  | { readonly contains: Scalar }
  | { readonly gt?: Scalar; readonly gte?: Scalar; readonly lt?: Scalar; readonly lte?: Scalar }
  | { readonly ne: Scalar };

/**
 * All conditions must hold. Keys are dotted field names of indexes; at least one index must begin with a field of the
 * conditions (other than by `ne`) or with the first sort field, else `MissingIndex`.
 * A missing field, and one that is no scalar, is null. Comparisons match values of the type of the bound only.
 */
export type Where = Readonly<Record<string, Condition>>;

export interface Query {
  readonly where?: Where;
  /**
   * Sort fields; the document id is always appended as the last tie-breaker (in the direction of the last field, else
   * ascending), so the order is total. Null < numbers < text by code point < booleans.
   */
  readonly orderBy?: readonly { readonly field: string; readonly direction: 'asc' | 'desc' }[];
  /** Keyset: documents strictly after this one in the order. Values of the sort fields, then the id. */
  readonly after?: readonly Scalar[];
  /** 1..1001 (one more than a page, to know whether there is a next one). */
  readonly limit: number;
}

export interface Stored<T> {
  readonly id: string;
  /** Guard value of the last write (stream revision or log position). */
  readonly revision: number;
  readonly document: T;
}

/** One guarded write of a batch. */
export type Write<T> =
  | { readonly kind: 'put'; readonly id: string; readonly revision: number; readonly document: T }
  /** Leaves a tombstone that keeps older writes out. */
  | { readonly kind: 'remove'; readonly id: string; readonly revision: number };

/** A unique index refused the document. */
export class UniqueViolation extends Error {
  readonly code = 'read_store.unique_violation';
  readonly collection: string;
  readonly index: string;
  constructor(collection: string, index: string) {
    super(`${collection}: another document has the same ${index}`);
    this.collection = collection;
    this.index = index;
  }
}

/** The store cannot be reached in time. */
export class ReadStoreUnavailable extends Error {
  readonly code = 'read_store.unavailable';
}

/**
 * Documents of one kind. Writes are guarded: one with a revision not above the stored one (tombstones included) changes
 * nothing and is not an error (PITFALLS 32), so repeats and late writers are harmless.
 */
export interface Collection<T> {
  readonly spec: CollectionSpec;
  get(id: string): Promise<Stored<T> | undefined>;
  /** At most 1000 ids; missing ones are absent from the map. */
  getMany(ids: readonly string[]): Promise<ReadonlyMap<string, Stored<T>>>;
  query(query: Query): Promise<readonly Stored<T>[]>;
  count(where?: Where): Promise<number>;
  /** Every document in id order, for rebuild comparisons and maintenance; pages underneath. */
  scan(signal?: AbortSignal): AsyncIterable<Stored<T>>;
  /** @returns true when it was written, false when the stored revision is the same or newer */
  put(id: string, revision: number, document: T): Promise<boolean>;
  remove(id: string, revision: number): Promise<boolean>;
  /**
   * Optimistic write for state that no event holds (idempotency answers, leases): succeeds only when the stored
   * revision is `expected` (-1: no document and no tombstone). The new revision is `expected + 1`.
   * @returns false when another writer was first
   */
  compareAndPut(id: string, expected: number, document: T): Promise<boolean>;
  /** Removes documents matching `where` outright (expiry of non-event state), at most `limit`; returns how many. */
  purge(where: Where, limit: number): Promise<number>;
}

/** The read store port (DESIGN section 4). */
export interface ReadStore {
  /** Opens a collection, creating it and its indexes when absent. `generation` separates a rebuild from the live one (default 0). */
  collection<T>(spec: CollectionSpec, generation?: number): Promise<Collection<T>>;
  /**
   * Applies writes of several collections in order; atomic where the engine can, else in order with the checkpoint last
   * (every write is guarded, so applying a part twice changes nothing).
   */
  batch(
    writes: readonly { readonly collection: Collection<never> | Collection<unknown>; readonly write: Write<unknown> }[],
  ): Promise<void>;
  /** Drops one generation of a collection. */
  drop(spec: CollectionSpec, generation: number): Promise<void>;
  /**
   * Removes for good what was overwritten and removed so far: afterwards nothing of it is in the files. Takes as long as
   * copying the store does, during which writes wait and reads go on; for erasure of personal data, not for every day.
   */
  scrub(): Promise<void>;
  close(): Promise<void>;
}
