import { ShardedMap } from '../../shared/sharded-map.ts';

/** Immutable entries with ids, in the order in which they were first put. */
export class OrderedMap<V extends { readonly id: string }> {
  readonly entries: ShardedMap<V>;
  readonly order: readonly string[];

  constructor(entries: ShardedMap<V>, order: readonly string[]) {
    this.entries = entries;
    this.order = order;
  }

  static empty<V extends { readonly id: string }>(): OrderedMap<V> {
    return new OrderedMap<V>(ShardedMap.empty<V>(), []);
  }

  get(id: string): V | undefined {
    return this.entries.get(id);
  }

  *values(): Iterable<V> {
    for (const id of this.order) {
      const value = this.entries.get(id);
      if (value !== undefined) yield value;
    }
  }

  edit(): OrderedDraft<V> {
    const entries = this.entries.edit();
    let order: string[] | undefined;
    const own = (): string[] => {
      order ??= this.order.slice();
      return order;
    };
    return {
      get: entries.get,
      put: (value) => {
        if (entries.get(value.id) === undefined) own().push(value.id);
        entries.set(value.id, value);
      },
      delete: (id) => {
        if (entries.get(id) === undefined) return;
        entries.delete(id);
        order = own().filter((other) => other !== id);
      },
      done: () => {
        const next = entries.done();
        return next === this.entries ? this : new OrderedMap(next, order ?? this.order);
      },
    };
  }
}

/** Collects changes to an `OrderedMap`. */
export interface OrderedDraft<V> {
  get(id: string): V | undefined;
  put(value: V): void;
  delete(id: string): void;
  done(): OrderedMap<V & { readonly id: string }>;
}
