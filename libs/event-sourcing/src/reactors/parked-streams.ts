import type { Collection, CollectionSpec, ReadStore } from '@bindery/read-store';
import type { ParkedStreamId, WaitingStream } from '@bindery/service-kit';
import { pause } from '../shared/loop.ts';
import { type ParkedDocument, parkedCollection, parkedId } from './parking.ts';

/** That somebody wants a stream to be tried again now. */
interface Wish {
  readonly key: string;
  readonly reactor: string;
  readonly stream: string;
}

const PAGE = 500;
/** How often whoever waits for the outcome looks, in ms. */
const LOOK_MS = 50;

const wishes = (service: string): CollectionSpec => ({
  name: `${service}.parked-retries`,
  version: 1,
  indexes: [
    { name: 'reactor', fields: ['reactor'] },
    { name: 'key', fields: ['key'] },
  ],
});

/** Wishes to try parked streams again, from whatever process to the one that runs the reactor; kept until it has seen them. */
export class RetryWishes {
  readonly #collection: Collection<Wish>;

  private constructor(collection: Collection<Wish>) {
    this.#collection = collection;
  }

  static async open(readStore: ReadStore, service: string): Promise<RetryWishes> {
    return new RetryWishes(await readStore.collection<Wish>(wishes(service)));
  }

  /** Asking twice is asking once. */
  async ask({ reactor, stream }: ParkedStreamId): Promise<void> {
    const key = parkedId(reactor, stream);
    await this.#collection.compareAndPut(key, -1, { key, reactor, stream });
  }

  /** Streams of a reactor that are wanted; they are not told of again. */
  async take(reactor: string): Promise<readonly string[]> {
    const found = await this.#collection.query({ where: { reactor }, limit: PAGE });
    for (const { document } of found) await this.#collection.purge({ key: document.key }, 1);
    return found.map(({ document }) => document.stream);
  }
}

/** Parked streams as every process sees them: in the read store, whichever process runs the reactors. */
export class ParkedStreams {
  readonly #readStore: ReadStore;
  readonly #service: string;
  readonly #fromAttempts: number;

  /** @param fromAttempts failures from which on a stream counts as parked */
  constructor(readStore: ReadStore, service: string, fromAttempts: number) {
    this.#readStore = readStore;
    this.#service = service;
    this.#fromAttempts = fromAttempts;
  }

  /** A page, in the order of {@link parkedId}; `after` is a place in that order. */
  async list(query: {
    readonly reactor?: string;
    readonly stream?: string;
    readonly after?: ParkedStreamId;
    readonly limit: number;
  }): Promise<readonly WaitingStream[]> {
    const { reactor, stream, limit } = query;
    const collection = await this.#open();
    if (reactor !== undefined && stream !== undefined) {
      const found = await collection.get(parkedId(reactor, stream));
      return found !== undefined && this.#counts(found.document) ? [present(found.document)] : [];
    }
    const streams: WaitingStream[] = [];
    let after = query.after === undefined ? undefined : parkedId(query.after.reactor, query.after.stream);
    while (streams.length < limit) {
      const page = await collection.query({
        ...(reactor === undefined ? {} : { where: { reactor } }),
        orderBy: [{ field: 'key', direction: 'asc' }],
        limit: PAGE,
        ...(after === undefined ? {} : { after: [after, after] }),
      });
      for (const { document } of page)
        if (this.#counts(document) && (stream ?? document.stream) === document.stream) streams.push(present(document));
      after = page.at(-1)?.id;
      if (page.length < PAGE) break;
    }
    return streams.slice(0, limit);
  }

  /**
   * Has a stream tried again now by whichever process runs the reactor, and waits until it was, but not longer than `waitMs`.
   * @returns what is parked then, null when the stream is free
   */
  async retry({ waitMs, ...id }: ParkedStreamId & { readonly waitMs: number }): Promise<WaitingStream | null> {
    const collection = await this.#open();
    const key = parkedId(id.reactor, id.stream);
    let found = await collection.get(key);
    if (found === undefined) return null;
    const { revision } = found;
    await (await RetryWishes.open(this.#readStore, this.#service)).ask(id);
    const over = AbortSignal.timeout(waitMs);
    while (found !== undefined && found.revision === revision && !over.aborted) {
      await pause(LOOK_MS, over);
      found = await collection.get(key);
    }
    return found === undefined ? null : present(found.document);
  }

  #counts({ attempts }: ParkedDocument): boolean {
    return attempts >= this.#fromAttempts;
  }

  #open(): Promise<Collection<ParkedDocument>> {
    return this.#readStore.collection<ParkedDocument>(parkedCollection(this.#service));
  }
}

const present = ({ reactor, stream, reason, attempts, since, revision }: ParkedDocument): WaitingStream => ({
  ...{ reactor, stream, reason, attempts, since, revision },
});
