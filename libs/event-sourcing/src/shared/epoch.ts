import type { Position } from '@bindery/event-store';
import type { Collection, CollectionSpec, ReadStore } from '@bindery/read-store';

export interface EpochDocument {
  readonly position: Position;
  /** Grows with every holder that takes over. */
  readonly epoch: number;
  /** Events that went to a dead-letter topic so far. */
  readonly refused: number;
}

/** Another process has taken over: what this one believes about its lease is over. */
export class EpochLost extends Error {
  constructor(what: string) {
    super(`${what}: another process has taken over`);
    this.name = 'EpochLost';
  }
}

const specOf = (service: string): CollectionSpec => ({ name: `${service}.workers`, version: 1, indexes: [] });

/**
 * The position of a worker of which one may be active. Every write names the one before it, so that a holder that was
 * paused past its term is refused (PITFALLS 30).
 */
export class EpochPosition {
  readonly #collection: Collection<EpochDocument>;
  readonly #id: string;
  #revision = -1;
  #epoch = 0;
  #document: EpochDocument | undefined;
  #saving: Promise<unknown> = Promise.resolve();

  private constructor(collection: Collection<EpochDocument>, id: string) {
    this.#collection = collection;
    this.#id = id;
  }

  static async open(readStore: ReadStore, service: string, id: string): Promise<EpochPosition> {
    return new EpochPosition(await readStore.collection<EpochDocument>(specOf(service)), id);
  }

  /** Reads what is stored, without taking over. */
  async read(): Promise<EpochDocument | undefined> {
    return (await this.#collection.get(this.#id))?.document;
  }

  /** Whether this holder has taken over. */
  get taken(): boolean {
    return this.#document !== undefined;
  }

  /** The position that this holder stored last. */
  get saved(): Position {
    return this.#document?.position ?? 0;
  }

  /**
   * Takes over from whoever wrote before.
   * @param fence of the lease
   * @param initial position when nothing is stored
   */
  async takeOver(fence: number, initial: () => Promise<Position>): Promise<EpochDocument> {
    const stored = await this.#collection.get(this.#id);
    this.#revision = stored?.revision ?? -1;
    this.#epoch = Math.max(fence, (stored?.document.epoch ?? 0) + 1);
    this.#document = undefined;
    const position = stored?.document.position ?? (await initial());
    return this.save(position, stored?.document.refused ?? 0);
  }

  /**
   * Stores a position; one after the other, and never an earlier one.
   * @throws EpochLost
   */
  save(position: Position, refused?: number): Promise<EpochDocument> {
    const saving = this.#saving.then(() => this.#save(position, refused));
    this.#saving = saving.catch(() => undefined); // whoever called it is told
    return saving;
  }

  async #save(to: Position, refusedSoFar: number | undefined): Promise<EpochDocument> {
    const position = Math.max(to, this.saved);
    const refused = refusedSoFar ?? this.#document?.refused ?? 0;
    const document = { position, epoch: this.#epoch, refused };
    if (!(await this.#collection.compareAndPut(this.#id, this.#revision, document))) throw new EpochLost(this.#id);
    this.#revision += 1;
    this.#document = document;
    return document;
  }
}
