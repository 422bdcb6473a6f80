const shardCount = 256;
const noEntries: ReadonlyMap<string, never> = new Map<string, never>();

/** Taken out of its object once: it is called for every character. */
const { imul } = Math;

/** FNV-1a, folded to a shard number; the same in every process. */
const shardOf = (key: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) {
    hash = imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  return (hash ^ (hash >>> 8) ^ (hash >>> 16) ^ (hash >>> 24)) & (shardCount - 1);
};

/**
 * An immutable map of strings to values. A change copies one shard of 256 and shares the others, so that two versions are
 * compared by looking only at the shards that differ. Iteration order is not that of insertion: keep an order apart
 * where one matters.
 */
export class ShardedMap<V> {
  readonly #shards: readonly ReadonlyMap<string, V>[];
  readonly size: number;

  private constructor(shards: readonly ReadonlyMap<string, V>[], size: number) {
    this.#shards = shards;
    this.size = size;
  }

  static empty<V>(): ShardedMap<V> {
    return new ShardedMap<V>(new Array<ReadonlyMap<string, V>>(shardCount).fill(noEntries), 0);
  }

  get(key: string): V | undefined {
    return this.#shards[shardOf(key)]?.get(key);
  }

  has(key: string): boolean {
    return this.#shards[shardOf(key)]?.has(key) === true;
  }

  /** A version with this entry. */
  with(key: string, value: V): ShardedMap<V> {
    const draft = this.edit();
    draft.set(key, value);
    return draft.done();
  }

  *values(): Iterable<V> {
    for (const shard of this.#shards) yield* shard.values();
  }

  *keys(): Iterable<string> {
    for (const shard of this.#shards) yield* shard.keys();
  }

  /** Keys whose values are not the same object in `other` (or missing on one side). */
  *differing(other: ShardedMap<V>): Iterable<string> {
    for (let index = 0; index < shardCount; index += 1) {
      const mine = this.#shards[index] ?? noEntries;
      const its = other.#shards[index] ?? noEntries;
      if (mine === its) continue;
      for (const [key, value] of mine) if (its.get(key) !== value) yield key;
      for (const key of its.keys()) if (!mine.has(key)) yield key;
    }
  }

  /** Starts a batch of changes; each touched shard is copied once. */
  edit(): MapDraft<V> {
    const shards = this.#shards.slice();
    const owned = new Map<number, Map<string, V>>();
    let size = this.size;
    const own = (index: number): Map<string, V> => {
      const mine = owned.get(index);
      if (mine) return mine;
      const copy = new Map(shards[index]);
      owned.set(index, copy);
      shards[index] = copy;
      return copy;
    };
    return {
      get: (key) => shards[shardOf(key)]?.get(key),
      set: (key, value) => {
        const shard = own(shardOf(key));
        if (!shard.has(key)) size += 1;
        shard.set(key, value);
      },
      delete: (key) => {
        const index = shardOf(key);
        if (shards[index]?.has(key) !== true) return;
        own(index).delete(key);
        size -= 1;
      },
      done: () => (owned.size === 0 ? this : new ShardedMap<V>(shards, size)),
    };
  }
}

/** Collects changes to a `ShardedMap`; not to be used after `done`. */
export interface MapDraft<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
  /** The new version; the same map when nothing was touched. */
  done(): ShardedMap<V>;
}
