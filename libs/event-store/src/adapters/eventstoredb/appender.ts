import type { EncodedAppend } from '../../encode.ts';
import { type AppendResult, EventStoreUnavailable, type ExpectedRevision, WrongExpectedRevision } from '../../port.ts';
import { Backoff } from './bounded.ts';
import type { Connection } from './connection.ts';
import { FalseSuccess, failureOf, isLate, portErrorOf } from './errors.ts';
import type { Gate } from './gate.ts';
import { positionOf } from './positions.ts';
import type { Reader, Timeouts } from './reader.ts';
import type { SizedEvent } from './recorded.ts';
import { appendMessages } from './requests.ts';

interface Work {
  readonly stream: string;
  readonly encoded: EncodedAppend;
  readonly expected: ExpectedRevision;
  /** By `performance.now()`. */
  readonly until: number;
}

/** What an append wrote, for the one that waits behind it. */
export interface Left {
  readonly first: number;
  readonly ids: readonly string[];
}

interface Answered {
  readonly revision: number;
  /** Undefined: the server names none, which it may leave out for what it had already. */
  readonly position: number | undefined;
}

/** Revision of the first event, where it is said. */
const firstOf = ({ expected }: Pick<Work, 'expected'>): number => (expected === 'no-stream' ? 0 : expected + 1);

/** Where the stream is, when the append before this one has just written other events at the place that this one expects. */
const staleAt = (work: Work, { first, ids }: Left): number | undefined => {
  const { encoded } = work;
  const at = firstOf(work) - first;
  return at >= 0 && at < ids.length && ids[at] !== encoded.events[0]?.id ? first + ids.length - 1 : undefined;
};

/**
 * Appends, each by one plain call, those of a stream one after the other and of different streams side by side.
 *
 * Nothing is known about a call that fails, so it is made again with the same ids and the same expectation, which writes
 * nothing when it was written before (PITFALLS 9); the server answers the first result then. One answer to the first
 * attempt that is as it must be is all that is needed. What was written is looked at only when there is a doubt: after a
 * failed attempt, when the success is at another revision than the next one (a soft delete by hand, or a failure that looks
 * like a success: PITFALLS 7 and 13), or when no position is named.
 */
export class Appender {
  readonly #connection: Connection;
  readonly #reader: Reader;
  readonly #timeouts: Timeouts;
  readonly #gate: Gate<Left>;
  readonly #closed: AbortSignal;

  constructor(connection: Connection, reader: Reader, timeouts: Timeouts, gate: Gate<Left>, closed: AbortSignal) {
    this.#connection = connection;
    this.#reader = reader;
    this.#timeouts = timeouts;
    this.#gate = gate;
    this.#closed = closed;
  }

  async append(stream: string, encoded: EncodedAppend, expected: ExpectedRevision): Promise<AppendResult> {
    const work = { stream, encoded, expected, until: performance.now() + this.#timeouts.appendMs };
    return this.#gate.run(stream, encoded.bytes, async (before, next) => {
      const stale = before && staleAt(work, before);
      if (stale !== undefined) {
        next(before);
        throw new WrongExpectedRevision(stream, expected, stale);
      }
      const written = await this.#write(work);
      const ids = encoded.events.map(({ id }) => id);
      next({ first: written.revision - ids.length + 1, ids });
      return written;
    });
  }

  async #write(work: Work): Promise<AppendResult> {
    const { stream, encoded, expected, until } = work;
    const messages = appendMessages(stream, encoded.events, expected);
    const backoff = new Backoff(30, 1000);
    const doing = `appending to ${stream}`;
    let failed: unknown;
    for (let attempt = 1; ; attempt += 1) {
      const left = until - performance.now();
      if (left <= 0 && failed !== undefined) throw portErrorOf(doing, failed);
      if (left <= 0) throw new EventStoreUnavailable(`${doing}: the time was used up by appends before it`);
      try {
        const answer = await this.#connection.append(messages, Math.min(left, this.#timeouts.callMs), this.#closed);
        const success = answer.getSuccess();
        if (success !== undefined) {
          const commit = success.getPosition()?.getCommitPosition();
          const revision = Number(success.getCurrentRevision());
          const answered = { revision, position: commit === undefined ? undefined : positionOf(commit) };
          return await this.#settled(work, answered, attempt);
        }
        const wrong = answer.getWrongExpectedVersion();
        if (wrong === undefined) throw new Error('the answer to an append says nothing');
        const actual = wrong.hasCurrentRevision() ? Number(wrong.getCurrentRevision()) : -1;
        // The conflict may be with what an earlier attempt wrote.
        const own = attempt > 1 && actual >= 0 ? await this.#find(work) : undefined;
        if (own === undefined) throw new WrongExpectedRevision(stream, expected, actual);
        return own;
      } catch (error) {
        if (error instanceof WrongExpectedRevision) throw error;
        const waited = until - performance.now() <= 0;
        if (waited || this.#closed.aborted || failureOf(error).kind !== 'retry') {
          throw portErrorOf(doing, isLate(error) ? (failed ?? error) : error);
        }
        if (!isLate(error) || failed === undefined) failed = error;
        await backoff.wait(this.#closed);
      }
    }
  }

  /** The events of this work where they should be, if all of them are there. */
  async #find(work: Work): Promise<AppendResult | undefined> {
    const { stream, encoded } = work;
    const from = firstOf(work);
    let last: SizedEvent | undefined;
    let index = 0;
    for await (const sized of this.#reader.stream(stream, from, false, encoded.events.length, this.#closed)) {
      if (sized.event.id !== encoded.events[index]?.id) return undefined;
      last = sized;
      index += 1;
    }
    if (last === undefined || index < encoded.events.length) return undefined;
    return { revision: last.event.revision, position: last.event.position };
  }

  /** The result that a success stands for. @throws FalseSuccess when the events are not where it says */
  async #settled(work: Work, { revision, position }: Answered, attempt: number): Promise<AppendResult> {
    const { stream, encoded } = work;
    const certain = revision === firstOf(work) + encoded.events.length - 1;
    if (certain && position !== undefined && attempt === 1) return { revision, position };
    try {
      // To its end, which is one event away: leaving early would cost a cancelled call.
      let found: SizedEvent | undefined;
      for await (const event of this.#reader.stream(stream, revision, false, 1, this.#closed)) found = event;
      if (found !== undefined && found.event.id === encoded.events.at(-1)?.id)
        return { revision, position: found.event.position };
    } catch (error) {
      // It is written, and that is what the caller must know.
      if (certain && position !== undefined && error instanceof EventStoreUnavailable) return { revision, position };
      throw error;
    }
    throw new FalseSuccess(stream, revision);
  }
}
