import { DEAD_LETTER_HEADERS, shortened } from '../../dead-letters.ts';
import { partitionOf } from '../../partitioner.ts';
import { type DeadLetter, deadLetterTopic, type LetterPage, MessageBusUnavailable } from '../../port.ts';
import { isProtocolError } from './failures.ts';
import {
  deadLetterOf,
  headersOf,
  isParkedAs,
  keyOf,
  originalOf,
  parkedKeyOf,
  type StoredRecord,
  toBusMessage,
} from './messages.ts';
import type { ParkedKeys, ParkedState } from './parked-keys.ts';
import type { Reader } from './reader.ts';
import type { Sender } from './sender.ts';

/** Reads of one look at letters at most: those of other keys lie in between. */
const MAX_READS = 8;
const READ_WAIT_MS = 100;

export interface ToPark {
  readonly stored: StoredRecord;
  readonly reason: string;
  readonly attempts: number;
}

/** The dead letters of a key cannot be read now, or those that should be there are `missing`: waiting for them is of no use. */
export class LettersUnread extends MessageBusUnavailable {
  readonly missing: boolean;
  constructor(message: string, missing: boolean, options?: ErrorOptions) {
    super(message, options);
    this.missing = missing;
  }
}

/** A dead letter with what it holds. */
export interface Letter {
  readonly original: StoredRecord;
  /** Its own place in the dead-letter topic. */
  readonly offset: bigint;
}

/**
 * Parks messages: first the dead letters, then the table of parked keys, both acknowledged by all replicas; only then may
 * the caller move its position. Died in between, the message comes again: before the table it is handled again, after it
 * the table says that it is parked already.
 */
export class Parking {
  readonly keys: ParkedKeys;
  readonly #deadLetters: string;
  readonly #deadPartitions: number;
  readonly #sender: Sender;
  readonly #reader: Reader;
  readonly #now: () => number;

  constructor(
    group: string,
    deadPartitions: number,
    keys: ParkedKeys,
    parts: { readonly sender: Sender; readonly reader: Reader; readonly now: () => number },
  ) {
    this.keys = keys;
    this.#deadLetters = deadLetterTopic(group);
    this.#deadPartitions = deadPartitions;
    this.#sender = parts.sender;
    this.#reader = parts.reader;
    this.#now = parts.now;
  }

  isParked(stored: StoredRecord): boolean {
    return this.keys.get(stored.topic, parkedKeyOf(stored)) !== undefined;
  }

  /** Parks messages of one partition, in order. @throws MessageBusUnavailable */
  async park(messages: readonly ToPark[]): Promise<void> {
    const fresh = messages.filter(({ stored }) => {
      const known = this.keys.get(stored.topic, parkedKeyOf(stored));
      return known === undefined || stored.offset > BigInt(known.last);
    });
    if (fresh.length === 0) return;
    const letters = fresh.map(({ stored, reason, attempts }) =>
      deadLetterOf(stored, { partition: this.#partitionOf(parkedKeyOf(stored)), reason, attempts }),
    );
    const offsets = await this.#sender.send(this.#deadLetters, letters);
    const now = new Date(this.#now()).toISOString();
    const states = new Map<string, ParkedState>();
    for (const [index, { stored, reason, attempts }] of fresh.entries()) {
      const { topic, partition, offset } = stored;
      const key = parkedKeyOf(stored);
      const known = states.get(key) ?? this.keys.get(topic, key);
      states.set(key, {
        topic,
        key,
        partition,
        reason: known?.reason ?? shortened(reason),
        attempts: known?.attempts ?? attempts,
        since: known?.since ?? now,
        deadPartition: known?.deadPartition ?? this.#partitionOf(key),
        from: known?.from ?? String(offsets[index] ?? 0n),
        last: String(offset),
        messages: (known?.messages ?? 0) + 1,
      });
    }
    await this.keys.put([...states.values()]);
  }

  /** The dead letters of a key that wait, oldest first. @throws LettersUnread */
  async *lettersOf(state: ParkedState): AsyncGenerator<Letter, void, void> {
    let offset = BigInt(state.from);
    let left = state.messages;
    let seen = -1n;
    while (left > 0) {
      const page = await this.#read(state, offset).catch((error: unknown) => {
        const what = `dead letters of a key of ${state.topic} cannot be read in ${this.#deadLetters}`;
        throw new LettersUnread(what, isProtocolError(error, 'OFFSET_OUT_OF_RANGE'), { cause: error });
      });
      if (page === undefined) {
        throw new LettersUnread(`dead letters of a key of ${state.topic} are missing in ${this.#deadLetters}`, true);
      }
      for (const letter of page.records) {
        const original = waitingOf(state, letter, seen);
        if (original === undefined) continue;
        seen = original.offset;
        left -= 1;
        yield { original, offset: letter.offset };
        if (left === 0) return;
      }
      offset = page.next;
    }
  }

  /**
   * A page of the dead letters of a key.
   * @param after `next` of the page before @throws MessageBusUnavailable, RangeError
   */
  async page(state: ParkedState, limit: number, after: string | undefined): Promise<LetterPage> {
    let { offset, seen } = placeOf(after);
    if (offset < BigInt(state.from)) offset = BigInt(state.from); // what was before is handled meanwhile
    const letters: DeadLetter[] = [];
    for (let reads = 0; reads < MAX_READS; reads += 1) {
      const page = await this.#read(state, offset);
      if (page === undefined) return { letters };
      for (const letter of page.records) {
        const original = waitingOf(state, letter, seen);
        if (original === undefined) continue;
        seen = original.offset;
        letters.push(describe(original, letter));
        if (String(seen) === state.last) return { letters };
        if (letters.length === limit) return { letters, next: `${letter.offset + 1n}.${seen}` };
      }
      offset = page.next;
    }
    return { letters, next: `${offset}.${seen}` };
  }

  /**
   * The first dead letter of a key that waits, however many of others lie before it. Undefined when there is none.
   * @param over ends the search @throws MessageBusUnavailable
   */
  async first(state: ParkedState, over: AbortSignal): Promise<DeadLetter | undefined> {
    for (let after: string | undefined; ; ) {
      const { letters, next } = await this.page(state, 1, after);
      if (letters[0] !== undefined || next === undefined) return letters[0];
      if (over.aborted)
        throw new MessageBusUnavailable(`the first dead letter of a key of ${state.topic} is far behind`);
      after = next;
    }
  }

  /** Reads from an offset on, or from what is left where that is gone. Undefined when there is nothing. */
  async #read(
    state: ParkedState,
    offset: bigint,
  ): Promise<{ readonly records: readonly StoredRecord[]; readonly next: bigint } | undefined> {
    try {
      return await this.#readAt(state, offset);
    } catch (error) {
      if (!isProtocolError(error, 'OFFSET_OUT_OF_RANGE')) throw error;
      const first = (await this.#reader.offsets(this.#deadLetters, 'first')).get(state.deadPartition);
      if (first === undefined || first === offset) throw error;
      return this.#readAt(state, first);
    }
  }

  async #readAt(
    { deadPartition }: ParkedState,
    offset: bigint,
  ): Promise<{ readonly records: readonly StoredRecord[]; readonly next: bigint } | undefined> {
    const place = { topic: this.#deadLetters, partition: deadPartition, offset };
    const [page] = await this.#reader.fetch([place], READ_WAIT_MS);
    if (page === undefined || (page.next === offset && page.end <= offset)) return undefined;
    return { records: page.records, next: page.next === offset ? page.end : page.next };
  }

  #partitionOf(key: string): number {
    return partitionOf(key, this.#deadPartitions);
  }
}

/** The message of a letter when it is the next one that waits for this key; one that was written twice, by a member that died in between, counts once. */
const waitingOf = (state: ParkedState, letter: StoredRecord, seen: bigint): StoredRecord | undefined => {
  const original = originalOf(letter);
  if (original === undefined || original.topic !== state.topic || !isParkedAs(original, state.key)) return undefined;
  return original.offset <= seen || original.offset > BigInt(state.last) ? undefined : original;
};

const placeOf = (after: string | undefined): { readonly offset: bigint; readonly seen: bigint } => {
  if (after === undefined) return { offset: 0n, seen: -1n };
  const [, offset, seen] = /^(\d{1,19})\.(-1|\d{1,19})$/.exec(after) ?? [];
  if (offset === undefined || seen === undefined) throw new RangeError(`${after} is no place among dead letters`);
  return { offset: BigInt(offset), seen: BigInt(seen) };
};

const describe = (original: StoredRecord, letter: StoredRecord): DeadLetter => {
  const headers = headersOf(letter.record);
  const read = ((): Pick<DeadLetter, 'event'> => {
    try {
      return { event: toBusMessage(original).event };
    } catch {
      return {}; // that it cannot be read is why it is here
    }
  })();
  return {
    topic: original.topic,
    partition: original.partition,
    offset: String(original.offset),
    key: keyOf(original.record),
    reason: headers[DEAD_LETTER_HEADERS.reason] ?? '',
    attempts: Number(headers[DEAD_LETTER_HEADERS.attempts] ?? 0),
    parkedAt: new Date(Number(letter.record.timestamp)).toISOString(),
    bytes: original.record.value?.byteLength ?? 0,
    ...read,
  };
};
