import type { Collection, CollectionSpec, ReadStore } from '@bindery/read-store';

/** A stream that waits because one of its events cannot be handled. */
export interface ParkedDocument {
  readonly reactor: string;
  readonly key: string;
  readonly stream: string;
  /** The first event that is not handled. */
  readonly revision: number;
  readonly reason: string;
  readonly attempts: number;
  /** ISO time of the first failure. */
  readonly since: string;
}

interface Entry {
  document: ParkedDocument;
  stored: number;
  /** Highest revision that the main loop has passed over. */
  passed: number;
}

/** Streams that may wait; a reactor with more than that is broken, and stops. */
const MAX_PARKED = 1000;
const PAGE = 500;

/** Id of the document of a parked stream. */
export const parkedId = (reactor: string, stream: string): string => `${reactor}:${stream}`;

/** Parked streams of all reactors of a service. */
export const parkedCollection = (service: string): CollectionSpec => ({
  name: `${service}.parked`,
  version: 1,
  indexes: [
    { name: 'reactor', fields: ['reactor'] },
    { name: 'key', fields: ['key'] },
  ],
});

/** The streams that one reactor has put aside, in memory and in the read store. */
export class Parking {
  readonly #collection: Collection<ParkedDocument>;
  readonly #reactor: string;
  readonly #entries = new Map<string, Entry>();

  private constructor(collection: Collection<ParkedDocument>, reactor: string) {
    this.#collection = collection;
    this.#reactor = reactor;
  }

  static async open(readStore: ReadStore, service: string, reactor: string): Promise<Parking> {
    return new Parking(await readStore.collection<ParkedDocument>(parkedCollection(service)), reactor);
  }

  /** Reads what an earlier holder has put aside. */
  async load(): Promise<void> {
    this.#entries.clear();
    const where = { reactor: this.#reactor };
    let after: readonly [string] | undefined;
    for (;;) {
      const page = await this.#collection.query({ where, limit: PAGE, ...(after === undefined ? {} : { after }) });
      for (const { document, revision } of page)
        this.#entries.set(document.stream, { document, stored: revision, passed: document.revision });
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      after = [last.id];
    }
  }

  has(stream: string): boolean {
    return this.#entries.has(stream);
  }

  /** Notes that the main loop leaves an event of a parked stream to be handled in its turn. */
  pass(stream: string, revision: number): void {
    const entry = this.#entries.get(stream);
    if (entry !== undefined) entry.passed = Math.max(entry.passed, revision);
  }

  /** Puts a stream aside, from this revision on, or notes that it failed again. */
  async park(stream: string, revision: number, reason: string, now: string): Promise<ParkedDocument> {
    const before = this.#entries.get(stream);
    if (before === undefined && this.#entries.size >= MAX_PARKED)
      throw new Error(`${this.#reactor} has put ${MAX_PARKED} streams aside; no more`);
    const same = before?.document.revision === revision;
    const document: ParkedDocument = {
      reactor: this.#reactor,
      key: parkedId(this.#reactor, stream),
      stream,
      revision,
      reason: reason.slice(0, 2000),
      attempts: same ? before.document.attempts + 1 : 1,
      since: same ? before.document.since : now,
    };
    const entry: Entry = before ?? { document, stored: -1, passed: revision };
    entry.document = document;
    this.#entries.set(stream, entry);
    if (await this.#collection.compareAndPut(document.key, entry.stored, document)) entry.stored += 1;
    else entry.stored = (await this.#collection.get(document.key))?.revision ?? -1;
    return document;
  }

  /**
   * Lets a stream go whose events up to `handled` are done.
   * @returns false when the main loop has passed over a later one in the meantime
   */
  async release(stream: string, handled: number): Promise<boolean> {
    const entry = this.#entries.get(stream);
    if (entry === undefined) return true;
    if (entry.passed > handled) return false;
    this.#entries.delete(stream);
    await this.#collection.purge({ key: entry.document.key }, 1);
    return true;
  }

  list(): readonly ParkedDocument[] {
    return [...this.#entries.values()].map(({ document }) => document);
  }
}
