import type { Collection, CollectionSpec, ReadStore } from '@bindery/read-store';
import type { Projection } from '../projection.ts';
import type { Collections } from './folding.ts';

interface Named {
  readonly name: string;
  readonly version: number;
}

interface Generation {
  readonly generation: number;
  readonly collections: readonly Named[];
}

interface Stale extends Generation {
  /** When it was replaced, in ms since 1970; 0 for what nobody ever read. */
  readonly since: number;
}

/** Which generation of each projection is live; one document per service, so that a switch is one write. */
export interface Pointer {
  /** Number of the next generation; numbers are not used twice. */
  readonly next: number;
  readonly live: Readonly<Record<string, Generation>>;
  /** Being filled. Found at a start without its builder, it is what a crash left behind. */
  readonly building: Generation | null;
  /** Replaced, to be dropped. */
  readonly stale: readonly Stale[];
}

const POINTER = 'pointer';
const MAX_TRIES = 20;
const empty: Pointer = { next: 0, live: {}, building: null, stale: [] };

/** The collections and versions that a projection needs; another answer than the stored one means a rebuild. */
const namesOf = (projection: Projection): readonly Named[] =>
  projection.collections.map(({ name, version }) => ({ name, version }));

const sameNames = (one: readonly Named[], other: readonly Named[]): boolean =>
  one.length === other.length &&
  one.every(({ name, version }) => other.some((named) => named.name === name && named.version === version));

const liveIn = ({ live }: Pointer, { name }: Projection): Generation | undefined =>
  Object.hasOwn(live, name) ? live[name] : undefined;

/** The generations of a service's projections (PITFALLS 33). */
export class Generations {
  readonly #readStore: ReadStore;
  readonly #projections: readonly Projection[];
  readonly #collection: Collection<Pointer>;
  #pointer: Pointer = empty;
  #revision = -1;

  private constructor(readStore: ReadStore, projections: readonly Projection[], collection: Collection<Pointer>) {
    this.#readStore = readStore;
    this.#projections = projections;
    this.#collection = collection;
  }

  static async open(service: string, readStore: ReadStore, projections: readonly Projection[]): Promise<Generations> {
    const spec: CollectionSpec = { name: `${service}.generations`, version: 1, indexes: [] };
    const generations = new Generations(readStore, projections, await readStore.collection<Pointer>(spec));
    await generations.refresh();
    return generations;
  }

  get pointer(): Pointer {
    return this.#pointer;
  }

  /** Reads the pointer again; answers whether another process has changed it. */
  async refresh(): Promise<boolean> {
    const stored = await this.#collection.get(POINTER);
    const changed = (stored?.revision ?? -1) !== this.#revision;
    this.#pointer = stored?.document ?? empty;
    this.#revision = stored?.revision ?? -1;
    return changed;
  }

  /** Generation that is live, or undefined when there is none in the shape that this binary needs. */
  liveOf(projection: Projection): number | undefined {
    const live = liveIn(this.#pointer, projection);
    return live !== undefined && sameNames(live.collections, namesOf(projection)) ? live.generation : undefined;
  }

  /** Projections without documents, or with documents of another shape. */
  missing(): readonly Projection[] {
    return this.#projections.filter((projection) => this.liveOf(projection) === undefined);
  }

  /** Opens the collections of a projection in a generation. */
  async open(projection: Projection, generation: number): Promise<Collections> {
    const opened = new Map<string, Collection<unknown>>();
    for (const spec of projection.collections)
      opened.set(spec.name, await this.#readStore.collection(spec, generation));
    return opened;
  }

  /** Reserves a generation for these projections and says that it is being built. */
  async begin(projections: readonly Projection[]): Promise<number> {
    const collections = projections.flatMap(namesOf);
    const { next } = await this.#update((pointer) => ({
      ...pointer,
      next: pointer.next + 1,
      building: { generation: pointer.next, collections },
    }));
    return next - 1;
  }

  /** Makes a generation the live one of these projections. The replaced ones become stale. */
  async switchTo(generation: number, projections: readonly Projection[], now: Date): Promise<void> {
    await this.#update((pointer) => {
      // Those of other names stay: another release that runs beside this one may read them.
      const live = { ...pointer.live };
      const replaced: Stale[] = [];
      for (const projection of projections) {
        const before = liveIn(pointer, projection);
        if (before !== undefined) replaced.push({ ...before, since: now.getTime() });
        live[projection.name] = { generation, collections: namesOf(projection) };
      }
      const next = Math.max(pointer.next, generation + 1);
      return { next, live, building: null, stale: [...pointer.stale, ...replaced] };
    });
  }

  /** Gives up what is being built; it becomes stale. */
  async abandon(): Promise<void> {
    if (this.#pointer.building === null) return;
    await this.#update((pointer) => ({
      ...pointer,
      building: null,
      stale: pointer.building === null ? pointer.stale : [...pointer.stale, { ...pointer.building, since: 0 }],
    }));
  }

  /** Drops generations replaced before `before`. A crash in between leaves some of them, which the next time drops. */
  async dropStale(before: Date): Promise<void> {
    const due = this.#pointer.stale.filter(({ since }) => since <= before.getTime());
    if (due.length === 0) return;
    for (const { generation, collections } of due)
      for (const named of collections) await this.#readStore.drop({ ...named, indexes: [] }, generation);
    const dropped = new Set(due.map((generation) => JSON.stringify(generation)));
    await this.#update((pointer) => ({
      ...pointer,
      stale: pointer.stale.filter((generation) => !dropped.has(JSON.stringify(generation))),
    }));
  }

  async #update(change: (pointer: Pointer) => Pointer): Promise<Pointer> {
    for (let attempt = 1; attempt <= MAX_TRIES; attempt += 1) {
      const changed = change(this.#pointer);
      if (await this.#collection.compareAndPut(POINTER, this.#revision, changed)) {
        this.#pointer = changed;
        this.#revision += 1;
        return changed;
      }
      await this.refresh();
    }
    throw new Error('the pointer to the live generations keeps changing');
  }
}
