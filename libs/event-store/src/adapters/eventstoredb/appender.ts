import { randomBytes } from 'node:crypto';
import type { EncodedAppend } from '../../encode.ts';
import { type AppendResult, EventStoreUnavailable, type ExpectedRevision, WrongExpectedRevision } from '../../port.ts';
import { Backoff } from './bounded.ts';
import type { Connection } from './connection.ts';
import { failureOf, portErrorOf } from './errors.ts';
import type { Gate } from './gate.ts';
import { positionOf } from './positions.ts';
import type { Reader, Timeouts } from './reader.ts';
import type { SizedEvent } from './recorded.ts';
import { appendMessages } from './requests.ts';

interface Work {
  readonly stream: string;
  readonly encoded: EncodedAppend;
  readonly expected: ExpectedRevision;
  /** Names this call, and all its attempts, in the metadata of what it writes. */
  readonly mark: string;
  /** By `performance.now()`. */
  readonly until: number;
}

/** What an append wrote, for the one that waits behind it. */
export interface Left {
  readonly first: number;
  readonly ids: readonly string[];
}

type Written = { readonly revision: number; readonly position: number };

/** Where the stream is, when the append before this one has just written other events at the place that this one expects. */
const staleAt = ({ encoded, expected }: Work, { first, ids }: Left): number | undefined => {
  const at = (expected === 'no-stream' ? 0 : expected + 1) - first;
  return at >= 0 && at < ids.length && ids[at] !== encoded.events[0]?.id ? first + ids.length - 1 : undefined;
};

/**
 * Appends, each by one plain call, those of a stream one after the other and of different streams side by side.
 *
 * Nothing is known about a call that fails, so it is made again with the same ids and the same expectation, which writes
 * nothing when it was written before (PITFALLS 9). The server does not tell that from the first time. So each call leaves
 * its mark in the metadata of its events, and what a success wrote is looked at: another mark means that the events
 * were there already.
 */
export class Appender {
  readonly #connection: Connection;
  readonly #reader: Reader;
  readonly #timeouts: Timeouts;
  readonly #gate: Gate<Left>;
  readonly #closed: AbortSignal;
  readonly #client = randomBytes(9).toString('base64url');
  #calls = 0;

  constructor(connection: Connection, reader: Reader, timeouts: Timeouts, gate: Gate<Left>, closed: AbortSignal) {
    this.#connection = connection;
    this.#reader = reader;
    this.#timeouts = timeouts;
    this.#gate = gate;
    this.#closed = closed;
  }

  async append(stream: string, encoded: EncodedAppend, expected: ExpectedRevision): Promise<AppendResult> {
    this.#calls += 1;
    const mark = `${this.#client}.${this.#calls.toString(36)}`;
    const work = { stream, encoded, expected, mark, until: performance.now() + this.#timeouts.appendMs };
    return this.#gate.run(stream, encoded.bytes, async (before, next) => {
      const stale = before && staleAt(work, before);
      if (stale !== undefined) {
        next(before);
        throw new WrongExpectedRevision(stream, expected, stale);
      }
      const written = await this.#write(work);
      const ids = encoded.events.map(({ id }) => id);
      next({ first: written.revision - ids.length + 1, ids }); // while what was written is looked at
      return this.#identify(work, written);
    });
  }

  async #write(work: Work): Promise<Written> {
    const { stream, encoded, expected, mark, until } = work;
    const messages = appendMessages(stream, encoded.events, expected, mark);
    const backoff = new Backoff(30, 1000);
    const doing = `appending to ${stream}`;
    for (let attempt = 1; ; attempt += 1) {
      const left = until - performance.now();
      if (left <= 0) throw new EventStoreUnavailable(`${doing}: the time was used up by appends before it`);
      try {
        const answer = await this.#connection.append(messages, Math.min(left, this.#timeouts.callMs), this.#closed);
        const success = answer.getSuccess();
        if (success !== undefined) {
          const commit = success.getPosition()?.getCommitPosition();
          const revision = Number(success.getCurrentRevision());
          return { revision, position: commit === undefined ? 0 : positionOf(commit) };
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
        if (waited || this.#closed.aborted || failureOf(error).kind !== 'retry') throw portErrorOf(doing, error);
        await backoff.wait(this.#closed);
      }
    }
  }

  /** The events of this work where they should be, if all of them are there. */
  async #find({ stream, encoded, expected }: Work): Promise<Written | undefined> {
    const from = expected === 'no-stream' ? 0 : expected + 1;
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

  /** Whether this call wrote the event at the revision that a success named, or an earlier one did. */
  async #identify({ stream, mark }: Work, { revision, position }: Written): Promise<AppendResult> {
    let result: AppendResult = { revision, position, repeated: false };
    try {
      // To its end, which is one event away: leaving early would cost a cancelled call.
      for await (const found of this.#reader.stream(stream, revision, false, 1, this.#closed)) {
        result = { revision, position: found.event.position, repeated: found.mark() !== mark };
      }
    } catch (error) {
      // It is written, and that is what the caller must know; only whether it was so before stays open.
      if (!(error instanceof EventStoreUnavailable)) throw error;
    }
    return result;
  }
}
