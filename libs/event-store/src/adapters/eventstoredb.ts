import { encodeAppend } from '../encode.ts';
import type {
  AppendResult,
  EventData,
  EventStore,
  ExpectedRevision,
  Position,
  ReadAllOptions,
  ReadOptions,
  RecordedEvent,
  SubscriptionItem,
} from '../port.ts';
import { Appender, type Left } from './eventstoredb/appender.ts';
import { Connection } from './eventstoredb/connection.ts';
import { Counter } from './eventstoredb/counter.ts';
import { filterOf, type LogFilter } from './eventstoredb/filters.ts';
import { Follower, type FollowerParts } from './eventstoredb/follower.ts';
import { Gate } from './eventstoredb/gate.ts';
import { Heads } from './eventstoredb/heads.ts';
import { closedError, Reader, type Timeouts, untilClosed } from './eventstoredb/reader.ts';
import { SharedTail } from './eventstoredb/shared-tail.ts';

export interface EventStoreDbOptions {
  /** `esdb://user:password@host:2113?tls=true&tlsCAFile=...`, or `esdb+discover://` for a cluster. */
  readonly connectionString: string;
  /** Longest wait for one answer, in ms. Default 4,000. */
  readonly callTimeoutMs?: number;
  /** Longest time of an append with its repetitions, and with those to the same stream before it, in ms. Default 8,000. */
  readonly appendTimeoutMs?: number;
  /** Longest silence of a read of the log, in ms: the server may pass over many events that do not match. Default 30,000. */
  readonly scanTimeoutMs?: number;
  /** How often subscriptions at the end ask whether the log went on with events that are not for them, in ms. Default 1,000. */
  readonly probeMs?: number;
  /** Appends under way at once. Default 64. */
  readonly maxConcurrent?: number;
  /** Appends that wait or run before new ones are refused. Default 10,000. */
  readonly maxQueued?: number;
  /** Bytes of events that wait or run. Default 64 MB. */
  readonly maxQueuedBytes?: number;
  /** Called whenever a subscription was dropped, before it is made again; for metrics and logs. */
  readonly onSubscriptionDropped?: (reason: string) => void;
}

const checkExpected = (expected: ExpectedRevision): void => {
  if (expected !== 'no-stream' && !(Number.isSafeInteger(expected) && expected >= 0)) {
    throw new RangeError(`expected revision must be "no-stream" or an integer from 0, not ${String(expected)}`);
  }
};

const checkCount = (name: string, value: number | undefined): void => {
  if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0)) {
    throw new RangeError(`${name} must be an integer from 0, not ${String(value)}`);
  }
};

const UNLIMITED = Number.MAX_SAFE_INTEGER;

class EventStoreDb implements EventStore {
  readonly #closed = new AbortController();
  readonly #connection: Connection;
  readonly #gate: Gate<Left>;
  readonly #reader: Reader;
  readonly #appender: Appender;
  readonly #heads: Heads;
  readonly #counter: Counter;
  readonly #following: FollowerParts;
  /** By the key of the filter. */
  readonly #tails = new Map<string, SharedTail>();
  #closing: Promise<void> | undefined;

  constructor(options: EventStoreDbOptions) {
    const { callTimeoutMs = 4000, appendTimeoutMs = 8000, scanTimeoutMs = 30_000 } = options;
    const timeouts: Timeouts = { callMs: callTimeoutMs, appendMs: appendTimeoutMs, scanMs: scanTimeoutMs };
    const { signal } = this.#closed;
    this.#connection = new Connection(options.connectionString);
    this.#gate = new Gate({
      atOnce: options.maxConcurrent ?? 64,
      most: options.maxQueued ?? 10_000,
      mostBytes: options.maxQueuedBytes ?? 64 * 1024 * 1024,
    });
    this.#reader = new Reader(this.#connection, timeouts);
    this.#appender = new Appender(this.#connection, this.#reader, timeouts, this.#gate, signal);
    this.#heads = new Heads(this.#reader, timeouts.scanMs, signal);
    this.#counter = new Counter(this.#reader, signal);
    this.#following = {
      connection: this.#connection,
      reader: this.#reader,
      heads: this.#heads,
      timeouts,
      probeMs: options.probeMs ?? 1000,
      onDrop: options.onSubscriptionDropped ?? (() => undefined),
    };
  }

  async append(stream: string, events: readonly EventData[], expected: ExpectedRevision): Promise<AppendResult> {
    checkExpected(expected);
    const encoded = encodeAppend(stream, events);
    if (stream.startsWith('$'))
      throw new TypeError(`names of streams that begin with $ are the server's own: ${stream}`);
    const taken = encoded.events.find(({ type }) => type.startsWith('$'));
    if (taken !== undefined)
      throw new TypeError(`types of events that begin with $ are the server's own: ${taken.type}`);
    if (this.#closing !== undefined) throw closedError();
    return this.#appender.append(stream, encoded, expected);
  }

  async *readStream(stream: string, options: ReadOptions = {}): AsyncGenerator<RecordedEvent, void, void> {
    const { direction = 'forwards', limit = UNLIMITED } = options;
    checkCount('from', options.from);
    checkCount('limit', options.limit);
    this.#mustBeOpen();
    const backwards = direction === 'backwards';
    const from = options.from ?? (backwards ? 'end' : 0);
    for await (const { event } of this.#reader.stream(stream, from, backwards, limit, this.#closed.signal)) yield event;
  }

  async *readAll(options: ReadAllOptions = {}): AsyncGenerator<RecordedEvent, void, void> {
    const { after = 0, prefixes, limit = UNLIMITED, signal } = options;
    checkCount('after', after);
    checkCount('limit', options.limit);
    signal?.throwIfAborted();
    this.#mustBeOpen();
    const until = untilClosed(this.#closed.signal, signal);
    for await (const { event } of this.#reader.log(after, filterOf(prefixes), limit, until)) yield event;
  }

  async *subscribe(options: {
    readonly after?: Position;
    readonly prefixes?: readonly string[];
    readonly signal: AbortSignal;
  }): AsyncGenerator<SubscriptionItem, void, void> {
    const { after = 0, prefixes, signal } = options;
    checkCount('after', after);
    if (signal.aborted) return;
    this.#mustBeOpen();
    const filter = filterOf(prefixes);
    const until = untilClosed(this.#closed.signal, signal);
    let at = after;
    while (!until.aborted) {
      at = yield* this.#followToEnd(filter, at, until);
      const tail = this.#tails.get(filter.key);
      if (tail !== undefined) at = yield* tail.after(at, until);
    }
    if (!signal.aborted) this.#mustBeOpen();
  }

  /**
   * Follows the log alone until the end of it is seen; then goes on as the shared tail of this filter, if there is none.
   * @returns where it is
   */
  async *#followToEnd(
    filter: LogFilter,
    after: Position,
    until: AbortSignal,
  ): AsyncGenerator<SubscriptionItem, Position, void> {
    const over = new AbortController();
    const end = (): void => over.abort();
    until.addEventListener('abort', end, { once: true });
    const items = new Follower(this.#following, filter, after, untilClosed(this.#closed.signal, over.signal)).items();
    let at = after;
    let handedOver = false;
    try {
      for (;;) {
        const { value: item } = await items.next();
        if (item === undefined) return at;
        at = item.position;
        if (item.kind === 'events') yield { kind: 'events', events: item.events, position: at };
        else {
          yield item;
          break;
        }
      }
      if (this.#tails.has(filter.key) || until.aborted) return at;
      const tail = new SharedTail({ items, over }, at, () => {
        if (this.#tails.get(filter.key) === tail) this.#tails.delete(filter.key);
      });
      this.#tails.set(filter.key, tail);
      handedOver = true;
      return at;
    } finally {
      until.removeEventListener('abort', end);
      if (!handedOver) {
        over.abort();
        await items.return();
      }
    }
  }

  async head(prefixes?: readonly string[]): Promise<Position> {
    this.#mustBeOpen();
    return prefixes === undefined ? this.#heads.end() : this.#heads.of(filterOf(prefixes));
  }

  async count(): Promise<number> {
    this.#mustBeOpen();
    return this.#counter.count();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#gate.idle();
    this.#closed.abort(closedError());
    await this.#connection.close();
  }

  #mustBeOpen(): void {
    this.#closed.signal.throwIfAborted();
  }
}

/**
 * Opens the event store of the distributed profile (DESIGN section 6): an EventStoreDB of version 22.10 or later (or
 * KurrentDB), one client per process. It connects with the first call; a server that is down is no reason to fail here.
 *
 * - An append is one call; what it wrote is read only where the answer leaves a doubt. Appends of 1 MB and more need the
 *   server's `MaxAppendSize` raised (docs/operations/event-store.md); without it they end with a TypeError.
 * - The server does not know whether an event id is taken in another stream: `EventIdTaken` is never thrown.
 * - `head()` is one read of one event, and of what is new where that is the server's own; see {@link Heads}. `count()` reads the whole log once, see {@link Counter}.
 *
 * @throws Error when the connection string cannot be understood
 */
export const openEventStoreDb = (options: EventStoreDbOptions): EventStore => new EventStoreDb(options);
