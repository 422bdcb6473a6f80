import type { CollectionDocument } from './collection-document.ts';
import { byOrder } from './order-key.ts';

type Default = CollectionDocument['defaultLevel'];

interface Node {
  readonly collection: CollectionDocument;
  /** Itself, then what it is in, up to the outermost. */
  readonly chain: readonly CollectionDocument[];
  readonly defaults: readonly Default[];
  readonly open: boolean;
}

/** Marks the top of an organization where collections are named. */
export const topLevel = '';

/** The living collections of an organization at one moment; at most some thousand. */
export class CollectionTree {
  readonly organizationId: string;
  readonly #nodes = new Map<string, Node>();
  readonly #children = new Map<string, CollectionDocument[]>();
  /** All of them, siblings in their order. */
  readonly all: readonly CollectionDocument[];

  constructor(organizationId: string, collections: readonly CollectionDocument[]) {
    this.organizationId = organizationId;
    const byId = new Map(collections.map((collection) => [collection.id, collection]));
    this.all = [...collections].sort(byOrder);
    for (const collection of this.all) {
      const place = collection.parent ?? topLevel;
      this.#children.set(place, [...(this.#children.get(place) ?? []), collection]);
      const chain = chainOf(collection, byId);
      const defaults = chain.map(({ defaultLevel }) => defaultLevel);
      const nearest = defaults.find((level) => level !== 'inherit');
      this.#nodes.set(collection.id, { collection, chain, defaults, open: nearest !== null });
    }
  }

  get(id: string): CollectionDocument | undefined {
    return this.#nodes.get(id)?.collection;
  }

  /** Itself, then what it is in, up to the outermost; empty for what is not there. */
  chain(id: string): readonly CollectionDocument[] {
    return this.#nodes.get(id)?.chain ?? [];
  }

  /** Defaults of the chain. What is not there lets nobody in. */
  defaults(id: string): readonly Default[] {
    return this.#nodes.get(id)?.defaults ?? [null];
  }

  /** Whether defaults let every member view what asks this collection. */
  isOpen(id: string): boolean {
    return this.#nodes.get(id)?.open ?? false;
  }

  /** Collections directly in one (or at the top), in their order. */
  children(place: string): readonly CollectionDocument[] {
    return this.#children.get(place) ?? [];
  }

  /** These, as far as they are there, and everything in them. */
  within(ids: Iterable<string>): ReadonlySet<string> {
    const found = new Set<string>();
    const open = [...ids].filter((id) => this.#nodes.has(id));
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (found.has(id)) continue;
      found.add(id);
      open.push(...this.children(id).map((child) => child.id));
    }
    return found;
  }
}

const chainOf = (
  collection: CollectionDocument,
  byId: ReadonlyMap<string, CollectionDocument>,
): readonly CollectionDocument[] => {
  const chain: CollectionDocument[] = [];
  const seen = new Set<string>();
  for (
    let next: CollectionDocument | undefined = collection;
    next !== undefined && !seen.has(next.id);
    next = next.parent === null ? undefined : byId.get(next.parent)
  ) {
    seen.add(next.id);
    chain.push(next);
  }
  return chain;
};
