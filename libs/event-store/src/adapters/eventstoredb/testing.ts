import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DoubleOptions, EventStoreDbDouble } from '@bindery/testing/eventstoredb-double';
import type { EventData, EventStore, Position, RecordedEvent, SubscriptionItem } from '../../port.ts';
import { type EventStoreDbOptions, openEventStoreDb } from '../eventstoredb.ts';

/** Time limits that keep tests short. */
export const QUICK = { callTimeoutMs: 1000, appendTimeoutMs: 3000, probeMs: 30 } as const;

/** An event with a new id and `{ n }`. */
export const eventOf = (n: number, padding = ''): EventData => ({
  id: crypto.randomUUID(),
  type: 'Happened',
  data: padding === '' ? { n } : { n, padding },
  metadata: {
    correlationId: 'c',
    causationId: 'c',
    actor: { kind: 'service', id: 'test' },
    schemaVersion: 1,
    time: '2030-01-01T00:00:00.000Z',
  },
});

export const numbersOf = (events: readonly RecordedEvent[]): unknown[] =>
  events.map(({ data }) => (data as { readonly n: number }).n);

export const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
};

/** A temporary directory for as long as `work` takes. */
export const withFolder = async (work: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-eventstoredb-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
};

/** A double and a way to open clients of it; both end with `work`. `restart` brings it back on its port with its data. */
export interface Place {
  double: EventStoreDbDouble;
  restart(): Promise<void>;
  open(options?: Partial<EventStoreDbOptions>): EventStore;
}

export const withDouble = (
  work: (place: Place) => Promise<void>,
  settings: Omit<DoubleOptions, 'directory' | 'port'> = {},
): Promise<void> =>
  withFolder(async (directory) => {
    const opened: EventStore[] = [];
    const place: Place = {
      double: await EventStoreDbDouble.start({ directory, ...settings }),
      async restart() {
        const { port } = place.double;
        await place.double.stop();
        place.double = await EventStoreDbDouble.start({ directory, port, ...settings });
      },
      open(options = {}) {
        const store = openEventStoreDb({ connectionString: place.double.connectionString, ...QUICK, ...options });
        opened.push(store);
        return store;
      },
    };
    try {
      await work(place);
    } finally {
      place.double.faults.clear();
      await Promise.all(opened.map((store) => store.close()));
      await place.double.stop();
    }
  });

/** A subscription that keeps what it got. */
export class Listener {
  readonly events: RecordedEvent[] = [];
  readonly items: SubscriptionItem[] = [];
  readonly ended: Promise<void>;
  readonly #abort = new AbortController();
  #wake: (() => void) | undefined;

  constructor(
    store: EventStore,
    options: { readonly after?: Position; readonly prefixes?: readonly string[] } = {},
    onItem: (item: SubscriptionItem) => Promise<void> = async () => undefined,
  ) {
    this.ended = this.#run(store, options, onItem);
    this.ended.catch(() => this.#wake?.());
  }

  async #run(
    store: EventStore,
    options: { readonly after?: Position; readonly prefixes?: readonly string[] },
    onItem: (item: SubscriptionItem) => Promise<void>,
  ): Promise<void> {
    for await (const item of store.subscribe({ ...options, signal: this.#abort.signal })) {
      await onItem(item);
      this.items.push(item);
      if (item.kind === 'events') this.events.push(...item.events);
      this.#wake?.();
    }
  }

  /** Waits for a condition, which is looked at whenever an item was handled. The test's own timeout is the limit. */
  async until(condition: (listener: Listener) => boolean): Promise<void> {
    while (!condition(this)) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([woken, this.ended.then(() => Promise.reject(new Error('the subscription ended')))]);
    }
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.ended;
  }
}
