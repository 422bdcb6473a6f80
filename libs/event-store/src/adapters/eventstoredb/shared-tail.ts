import type { Position, RecordedEvent, SubscriptionItem } from '../../port.ts';
import { type Followed, PAGE_EVENTS } from './follower.ts';

/** Events that those who follow may be behind; whoever is further behind reads on by itself. */
const MAX_EVENTS = 2000;
const MAX_BYTES = 8 * 1024 * 1024;

type Page = Extract<Followed, { kind: 'events' }>;

/** What follows the log for a tail; it ends when its controller aborts. */
export interface Source {
  readonly items: AsyncGenerator<Followed, void, void>;
  readonly over: AbortController;
}

/**
 * The end of the log for all subscriptions of a client with the same filter that have come to it: the server sends, and
 * this process decodes, each event once and not once per subscription. It keeps a bounded number of events, so a slow
 * reader holds nobody up: it falls behind the oldest of them and reads by itself until it is at the end again.
 */
export class SharedTail {
  readonly #source: Source;
  readonly #onEnd: () => void;
  #pages: Page[] = [];
  #events = 0;
  #bytes = 0;
  /** Everything after this position is here. */
  #start: Position;
  #end: Position;
  /** The end of the log was seen here. */
  #caughtUp: Position | undefined;
  #readers = 0;
  #over = false;
  #failure: unknown;
  #news = Promise.withResolvers<void>();

  /**
   * @param source a subscription that has come to the end of the log at `position`
   * @param onEnd called when it takes no more readers; perhaps twice
   */
  constructor(source: Source, position: Position, onEnd: () => void) {
    this.#source = source;
    this.#onEnd = onEnd;
    this.#start = position;
    this.#end = position;
    this.#caughtUp = position;
    void this.#run();
  }

  /**
   * What comes after a position, as a subscription yields it, until the signal aborts, the reader has fallen behind, or the
   * source has ended.
   * @returns the position from which the reader must go on by itself; the last one yielded when the signal aborted
   * @throws EventStoreUnavailable when trying again cannot help
   */
  async *after(position: Position, signal: AbortSignal): AsyncGenerator<SubscriptionItem, Position, void> {
    let [at, announced] = [position, position];
    const wake = (): void => this.#tell();
    this.#readers += 1;
    signal.addEventListener('abort', wake, { once: true });
    try {
      for (;;) {
        if (signal.aborted || at < this.#start) return at;
        if (this.#end > at) {
          const page = this.#pageAfter(at);
          at = page.position;
          yield page;
        } else if (this.#caughtUp === at && announced !== at) {
          announced = at;
          yield { kind: 'caught-up', position: at };
        } else if (this.#failure !== undefined) throw this.#failure;
        else if (this.#over) return at;
        else await this.#news.promise;
      }
    } finally {
      signal.removeEventListener('abort', wake);
      this.#readers -= 1;
      if (this.#readers === 0) {
        this.#onEnd();
        this.#source.over.abort();
      }
    }
  }

  async #run(): Promise<void> {
    const { items, over } = this.#source;
    try {
      for await (const item of items) {
        if (item.kind === 'caught-up') this.#caughtUp = item.position;
        else if (item.events.length > 0) this.#add(item);
        this.#end = Math.max(this.#end, item.position);
        this.#tell();
      }
    } catch (error) {
      if (!over.signal.aborted) this.#failure = error;
    }
    this.#over = true;
    this.#onEnd();
    this.#tell();
  }

  #add(page: Page): void {
    this.#pages.push(page);
    this.#events += page.events.length;
    this.#bytes += page.bytes;
    while (this.#events > MAX_EVENTS || this.#bytes > MAX_BYTES) {
      const oldest = this.#pages.shift();
      if (oldest === undefined) return;
      this.#start = oldest.position;
      this.#events -= oldest.events.length;
      this.#bytes -= oldest.bytes;
    }
  }

  /** As many events as one page of a subscription has, and where they end. */
  #pageAfter(after: Position): SubscriptionItem {
    const events: RecordedEvent[] = [];
    for (let index = this.#pages.findLastIndex(({ position }) => position <= after) + 1; ; index += 1) {
      const page = this.#pages[index];
      if (page === undefined) return { kind: 'events', events, position: this.#end };
      if (events.length > 0 && events.length + page.events.length > PAGE_EVENTS)
        return { kind: 'events', events, position: events.at(-1)?.position ?? after };
      events.push(...page.events.filter(({ position }) => position > after));
    }
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers<void>();
  }
}
