import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Position, RecordedEvent, SubscriptionItem } from '../../port.ts';
import { Backoff } from './bounded.ts';
import type { Connection } from './connection.ts';
import { failureOf, portErrorOf, SubscriptionEnded } from './errors.ts';
import type { LogFilter } from './filters.ts';
import type { Heads } from './heads.ts';
import type { Incoming } from './incoming.ts';
import { checkpointOf } from './positions.ts';
import type { Reader, Timeouts } from './reader.ts';
import { eventOf } from './recorded.ts';
import { logSubscription } from './requests.ts';

export interface FollowerParts {
  readonly connection: Connection;
  readonly reader: Reader;
  readonly heads: Heads;
  readonly timeouts: Timeouts;
  /** How often a subscription that is at the end asks whether the log went on with events that are not for it, in ms. */
  readonly probeMs: number;
  /** Told of every drop, before the next try. */
  readonly onDrop: (reason: string) => void;
}

/** What a follower yields: what the port says, and how much it is. */
export type Followed =
  | (Extract<SubscriptionItem, { kind: 'events' }> & { readonly bytes: number })
  | Extract<SubscriptionItem, { kind: 'caught-up' }>;

/** Events of a page. */
export const PAGE_EVENTS = 512;
const PAGE_BYTES = 4 * 1024 * 1024;
/** Silence after which a subscription asks whether it has reached the end, in ms. */
const SETTLE_MS = 15;
/** A connection that lived so long was good: the next drop is the first again. In ms. */
const GOOD_MS = 2000;
/** Events that are there and do not come for so long mean that the subscription hangs. In ms. */
const STALLED_MS = 10_000;

/** One subscription of the port over as many of the server as it takes (PITFALLS 1 to 6, 15). */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #filter: LogFilter;
  readonly #signal: AbortSignal;
  /** Everything up to here was yielded, or is not for this reader. */
  #position: Position;
  #announced: Position | undefined;
  #page: RecordedEvent[] = [];
  #pageBytes = 0;
  /** Everything up to here was received, or looked at by the server and not for this reader. */
  #reached: Position;
  /**
   * The newest checkpoint of this subscription. What is before it was looked at; the event that stands at it may still come:
   * servers 22.10 to 24.10.4 name the place of the next event. So it counts once a later one has come.
   */
  #mark: Position | undefined;
  #missingSince: number | undefined;

  constructor(parts: FollowerParts, filter: LogFilter, after: Position, signal: AbortSignal) {
    this.#parts = parts;
    this.#filter = filter;
    this.#signal = signal;
    this.#position = after;
    this.#reached = after;
  }

  /** Pages and marks until the signal aborts. @throws EventStoreUnavailable when trying again cannot help */
  async *items(): AsyncGenerator<Followed, void, void> {
    const backoff = new Backoff(50, 5000);
    while (!this.#signal.aborted) {
      const started = performance.now();
      let incoming: Incoming | undefined;
      try {
        const request = logSubscription(this.#position, this.#filter);
        incoming = await this.#parts.connection.read(request, this.#parts.timeouts.callMs, this.#signal);
        yield* this.#follow(incoming);
      } catch (error) {
        if (this.#signal.aborted) return;
        const { kind, message } = failureOf(error);
        if (kind !== 'retry') throw portErrorOf('following the log', error);
        if (performance.now() - started > GOOD_MS) backoff.reset();
        this.#parts.onDrop(message);
      } finally {
        incoming?.close(); // also when the reader leaves its loop
      }
      this.#forget();
      await backoff.wait(this.#signal);
    }
  }

  /** Drops what was received and not yielded: it comes again. */
  #forget(): void {
    this.#page = [];
    this.#pageBytes = 0;
    this.#reached = this.#position;
    this.#mark = undefined;
    this.#missingSince = undefined;
  }

  async *#follow(incoming: Incoming): AsyncGenerator<Followed, void, void> {
    while (!this.#signal.aborted) {
      this.#receive(incoming);
      if (this.#page.length < PAGE_EVENTS && this.#pageBytes < PAGE_BYTES) {
        await nextTurn(); // what is on its way joins the page
        if (incoming.waiting) continue;
      }
      if (this.#reached > this.#position) {
        yield this.#turn();
        continue;
      }
      const waited = await incoming.wait(
        this.#announced === this.#position ? this.#parts.probeMs : SETTLE_MS,
        this.#signal,
      );
      if (waited === 'ended') throw new SubscriptionEnded();
      if (waited === 'late' && (await this.#atEnd(incoming)) && this.#announced !== this.#position) {
        this.#announced = this.#position;
        yield { kind: 'caught-up', position: this.#position };
      }
    }
  }

  /** Takes what is here into the page, as far as it goes. */
  #receive(incoming: Incoming): void {
    while (this.#page.length < PAGE_EVENTS && this.#pageBytes < PAGE_BYTES) {
      const message = incoming.take();
      if (message === undefined) return;
      const checkpoint = checkpointOf(message.getCheckpoint());
      if (checkpoint !== undefined && checkpoint > (this.#mark ?? -1)) {
        this.#reached = Math.max(this.#reached, this.#mark ?? 0);
        this.#mark = checkpoint;
      }
      const sized = eventOf(message);
      if (sized === undefined || sized.event.position <= this.#reached) continue;
      this.#reached = sized.event.position;
      if (!this.#filter.matches(sized.event)) continue;
      this.#page.push(sized.event);
      this.#pageBytes += sized.bytes;
    }
  }

  #turn(): Followed {
    const [events, bytes] = [this.#page, this.#pageBytes];
    this.#position = this.#reached;
    this.#page = [];
    this.#pageBytes = 0;
    this.#missingSince = undefined;
    return { kind: 'events', events, position: this.#position, bytes };
  }

  /**
   * Whether this is the end of the log. A subscription hears of events that are not for it only now and then, so when the log
   * is longer, what is between is read: if nothing of it is for this reader, it moves on to the end that was seen.
   */
  async #atEnd(incoming: Incoming): Promise<boolean> {
    const { heads, reader } = this.#parts;
    const end = await heads.end();
    if (end <= this.#position) return true;
    for await (const { event } of reader.log(this.#position, this.#filter, 1, this.#signal)) {
      if (event.position > end) break;
      if (incoming.waiting) return false;
      this.#missingSince ??= performance.now();
      if (performance.now() - this.#missingSince > STALLED_MS) {
        throw new SubscriptionEnded(`nothing came for ${STALLED_MS} ms although there was something`);
      }
      return false;
    }
    if (incoming.waiting) return false;
    this.#position = end;
    this.#reached = end;
    return true;
  }
}
