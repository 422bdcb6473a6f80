import type streams from '@eventstore/db-client/generated/streams_pb.js';
import { EventStoreUnavailable, type Position } from '../../port.ts';
import { Backoff } from './bounded.ts';
import type { Connection } from './connection.ts';
import { CallTimedOut, failureOf, portErrorOf } from './errors.ts';
import { isOurs, type LogFilter } from './filters.ts';
import { eventOf, type SizedEvent } from './recorded.ts';
import { logEnd, logRead, logTail, streamRead } from './requests.ts';

/** Time limits of an adapter, all in ms. */
export interface Timeouts {
  /** Longest wait for the answer to one attempt of an append, or for the next event of a stream. */
  readonly callMs: number;
  /** Longest time of an append with all its attempts. */
  readonly appendMs: number;
  /** Longest wait for the next event of a filtered read of the log: the server may pass over many events in silence. */
  readonly scanMs: number;
}

/** Failed attempts in a row after which a read gives up. */
const ATTEMPTS = 4;
/** Events that are asked for when the newest one is none of ours. */
const BACK_PAGE = 32;

/** What is asked of the server, and how many events it gives at most. */
interface Asked {
  readonly message: streams.ReadReq;
  readonly count: number;
}

/** One try of a read that may be made again from where it stopped. */
interface Resumable {
  /** The request for what comes after the last event seen. */
  readonly request: (last: SizedEvent | undefined, left: number) => Asked;
  readonly wanted: (event: SizedEvent) => boolean;
  readonly limit: number;
  readonly idleMs: number;
  readonly signal: AbortSignal;
  readonly doing: string;
}

/** Reads of streams and of the log; they go on by themselves after a lost connection, from the event after the last. */
export class Reader {
  readonly #connection: Connection;
  readonly #timeouts: Timeouts;

  constructor(connection: Connection, timeouts: Timeouts) {
    this.#connection = connection;
    this.#timeouts = timeouts;
  }

  /** Events of a stream, from a revision on (included). */
  stream(
    name: string,
    from: number | 'end',
    backwards: boolean,
    limit: number,
    signal: AbortSignal,
  ): AsyncGenerator<SizedEvent, void, void> {
    return this.#events({
      request: (last, left) => {
        const next = last === undefined ? from : last.event.revision + (backwards ? -1 : 1);
        return { message: streamRead(name, next, backwards, left), count: left };
      },
      wanted: ({ event }) => isOurs(event),
      limit,
      idleMs: this.#timeouts.callMs,
      signal,
      doing: `reading stream ${name}`,
    });
  }

  /** Events of the log after a position. */
  log(after: Position, filter: LogFilter, limit: number, signal: AbortSignal): AsyncGenerator<SizedEvent, void, void> {
    return this.#events({
      // One more than wanted: the event at the position itself comes too.
      request: (last, left) => {
        const count = Math.min(left + 1, Number.MAX_SAFE_INTEGER);
        return { message: logRead(last?.event.position ?? after, filter, count), count };
      },
      wanted: ({ event }) => event.position > after && filter.matches(event),
      limit,
      idleMs: this.#timeouts.scanMs,
      signal,
      doing: 'reading the log',
    });
  }

  /** The last event of the log, whosever it is. */
  end(signal: AbortSignal): Promise<SizedEvent | undefined> {
    return this.#one(
      () => ({ message: logEnd(), count: 1 }),
      () => true,
      this.#timeouts.callMs,
      signal,
    );
  }

  /**
   * The last event of the log that matches.
   * @param idleMs longest silence while the server passes over events that do not
   */
  last(filter: LogFilter, idleMs: number, signal: AbortSignal): Promise<SizedEvent | undefined> {
    const request = (last: SizedEvent | undefined): Asked => {
      const count = last === undefined ? 1 : BACK_PAGE;
      return { message: logTail(last?.event.position, filter, count), count };
    };
    return this.#one(request, ({ event }) => filter.matches(event), idleMs, signal);
  }

  async #one(
    request: Resumable['request'],
    wanted: Resumable['wanted'],
    idleMs: number,
    signal: AbortSignal,
  ): Promise<SizedEvent | undefined> {
    const events = this.#events({
      request,
      wanted,
      limit: 1,
      idleMs,
      signal,
      doing: 'looking for the end of the log',
    });
    let last: SizedEvent | undefined;
    for await (const event of events) last = event;
    return last;
  }

  async *#events(read: Resumable): AsyncGenerator<SizedEvent, void, void> {
    const backoff = new Backoff(30, 500);
    let last: SizedEvent | undefined;
    let left = read.limit;
    for (let failures = 0; left > 0; ) {
      try {
        const asked = read.request(last, left);
        let came = 0;
        for await (const event of this.#attempt(asked.message, read)) {
          came += 1;
          failures = 0;
          backoff.reset();
          const repeated = last !== undefined && event.event.position === last.event.position;
          last = event;
          // Beyond the limit there is at most one event; the call is left to end by itself, which costs less than cutting it.
          if (repeated || left <= 0 || !read.wanted(event)) continue;
          left -= 1;
          yield event;
        }
        if (came < asked.count) return; // else there may be more: events that are none of ours count for the server
      } catch (error) {
        failures += 1;
        read.signal.throwIfAborted();
        const { kind } = failureOf(error);
        if (kind === 'deleted') return;
        // What did not answer in time is not asked again: the caller has waited long enough.
        const again = kind === 'retry' && !(error instanceof CallTimedOut) && failures < ATTEMPTS;
        if (!again) throw portErrorOf(read.doing, error);
        await backoff.wait(read.signal);
        read.signal.throwIfAborted();
      }
    }
  }

  async *#attempt(message: streams.ReadReq, { idleMs, signal }: Resumable): AsyncGenerator<SizedEvent, void, void> {
    const incoming = await this.#connection.read(message, this.#timeouts.callMs, signal);
    let finished = false;
    try {
      for (;;) {
        const received = incoming.take();
        if (received === undefined) {
          const waited = await incoming.wait(idleMs, signal);
          finished = waited === 'ended';
          if (finished) return;
          if (waited === 'late') throw new CallTimedOut(idleMs);
          if (waited === 'aborted') throw signal.reason;
          continue;
        }
        signal.throwIfAborted();
        const event = eventOf(received);
        if (event !== undefined) yield event;
      }
    } finally {
      if (!finished) incoming.close();
    }
  }
}

/** Aborts with the caller's signal or when the store closes, whichever comes first. */
export const untilClosed = (closed: AbortSignal, signal?: AbortSignal): AbortSignal =>
  signal === undefined ? closed : AbortSignal.any([closed, signal]);

export const closedError = (): EventStoreUnavailable => new EventStoreUnavailable('the event store is closed');
