import { randomUUID } from 'node:crypto';
import type {
  EventData,
  EventMetadata,
  EventStore,
  Position,
  RecordedEvent,
  SubscriptionItem,
} from '@bindery/event-store';

/** One place for events (a file, a server) that may be opened again and by several clients at once. */
export interface EventStorePlace {
  /** A new client of the same data. */
  open(): Promise<EventStore>;
  /** Stops the store without warning and starts it again with its data; for stores that are a server of their own. */
  restart?(): Promise<void>;
  /** Removes what the place needed; every client is closed by then. */
  dispose(): Promise<void>;
}

/** What an adapter gives to its conformance suite. */
export interface EventStoreHarness {
  /** May be shared with other tests: the suite uses streams of its own and measures positions from the head it found. */
  createPlace(): Promise<EventStorePlace>;
  readonly capabilities?: {
    /** An id that is taken in another stream is refused. Default true. */
    readonly uniqueEventIds?: boolean;
    /** Size of the payload that must be accepted, in bytes. Default 1,000,000. */
    readonly payloadBytes?: number;
  };
  /** Events of the test of scale. Default 100,000. */
  readonly manyEvents?: number;
  /** Rounds of twenty writers on one stream, each of which costs twenty reads and appends. Default 50. */
  readonly contendedRounds?: number;
  /** The longest a subscription may take to see an event, in ms. Default 5,000. */
  readonly liveMs?: number;
}

/** A store and a part of its log that no other test writes to. */
export interface Sandbox {
  readonly store: EventStore;
  readonly place: EventStorePlace;
  /** Starts the names of all streams of this test. */
  readonly prefix: string;
  /** Head of the log before the test. */
  readonly start: Position;
  /** Further client, closed with the sandbox. */
  open(): Promise<EventStore>;
  stream(name: string): string;
}

/** Runs `work` with a store and a prefix of its own; closes every client afterwards. */
export const withStore = async (
  harness: EventStoreHarness,
  work: (sandbox: Sandbox) => Promise<void>,
): Promise<void> => {
  const place = await harness.createPlace();
  const opened: EventStore[] = [];
  const open = async (): Promise<EventStore> => {
    const client = await place.open();
    opened.push(client);
    return client;
  };
  try {
    const store = await open();
    const letters = randomUUID().replaceAll(/[^a-z]/g, '');
    const prefix = `t${letters}.`;
    const start = await store.head();
    await work({ store, place, prefix, start, open, stream: (name) => `${prefix}${name}` });
  } finally {
    await Promise.all(opened.map((client) => client.close()));
    await place.dispose();
  }
};

export const metadataOf = (patch: Partial<EventMetadata> = {}): EventMetadata => ({
  correlationId: 'correlation',
  causationId: 'causation',
  actor: { kind: 'user', id: 'user1' },
  organizationId: 'organization1',
  schemaVersion: 1,
  time: '2030-01-02T03:04:05.678Z',
  ...patch,
});

/** An event with a new id. */
export const eventOf = (data: unknown = {}, type = 'SomethingHappened'): EventData => ({
  id: randomUUID(),
  type,
  data,
  metadata: metadataOf(),
});

/** `count` events whose data is `{ n: from }`, `{ n: from + 1 }` ... */
export const numbered = (count: number, from = 0): EventData[] =>
  Array.from({ length: count }, (_, index) => eventOf({ n: from + index }));

/** Everything of an iterable. */
export const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
};

export const idsOf = (events: readonly { readonly id: string }[]): string[] => events.map(({ id }) => id);

/** A subscription that runs beside a test and keeps what it yields. */
export class Follower {
  readonly events: RecordedEvent[] = [];
  readonly items: SubscriptionItem[] = [];
  /** Settles when the subscription ends. */
  readonly ended: Promise<void>;
  readonly #abort = new AbortController();
  readonly #limitMs: number;
  #wake: (() => void) | undefined;

  constructor(
    harness: EventStoreHarness,
    store: EventStore,
    options: { readonly after: Position; readonly prefixes?: readonly string[] },
    onItem: (item: SubscriptionItem) => Promise<void> = async () => undefined,
  ) {
    this.#limitMs = harness.liveMs ?? 5000;
    this.ended = this.#run(store.subscribe({ ...options, signal: this.#abort.signal }), onItem);
    this.ended.catch(() => this.#wake?.());
  }

  async #run(items: AsyncIterable<SubscriptionItem>, onItem: (item: SubscriptionItem) => Promise<void>): Promise<void> {
    for await (const item of items) {
      this.items.push(item);
      if (item.kind === 'events') this.events.push(...item.events);
      this.#wake?.();
      await onItem(item);
    }
  }

  /** Waits until the condition holds; it is looked at when an item arrives. */
  async until(condition: (follower: Follower) => boolean): Promise<void> {
    const late = AbortSignal.timeout(this.#limitMs);
    while (!condition(this)) {
      if (late.aborted) throw new Error(`not seen within ${this.#limitMs} ms; so far ${this.events.length} events`);
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
        late.addEventListener('abort', () => resolve(), { once: true });
      });
      await Promise.race([woken, this.ended]);
    }
  }

  /** Waits until a mark says that everything up to a position was seen. */
  async untilCaughtUp(position: Position): Promise<void> {
    await this.until(({ items }) => items.some((item) => item.kind === 'caught-up' && item.position >= position));
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.ended;
  }
}
