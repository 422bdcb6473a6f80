import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { prepareQuery, type Query } from '@bindery/event-store/sqlite-kit';
import { DEAD_LETTER_HEADERS, shortened } from '../../dead-letters.ts';
import type { DeadLetter, LetterPage, ParkedKey, ParkedPage } from '../../port.ts';
import type { Lease } from './groups.ts';
import { type EncodedMessage, type Log, type StoredMessage, type Topic, toBusMessage } from './log.ts';

/** Parked keys of one page at most; the metric counts no more. */
const MAX_LISTED = 1000;

type ListedRow = [
  topic: string,
  key: string,
  reason: string,
  attempts: number,
  since: number,
  releasing: number,
  messages: number,
];

/** Bytes and headers stay as they were; where it came from and why it is here are added (PITFALLS 35). */
const deadLetter = (source: Topic, message: StoredMessage, reason: string, attempts: number): EncodedMessage => {
  const own = JSON.parse(message.headers) as Record<string, string>;
  const headers = JSON.stringify({
    ...own,
    [DEAD_LETTER_HEADERS.topic]: source.name,
    [DEAD_LETTER_HEADERS.partition]: String(message.partition),
    [DEAD_LETTER_HEADERS.offset]: String(message.offset),
    [DEAD_LETTER_HEADERS.reason]: shortened(reason),
    [DEAD_LETTER_HEADERS.attempts]: String(attempts),
  });
  return { key: message.key, value: message.value, headers, bytes: message.value.byteLength + headers.length };
};

const added = new Set<string>(Object.values(DEAD_LETTER_HEADERS));

/** Keys that wait, and their dead letters. Writing methods are called inside the shared transaction. */
export class Parking {
  readonly #log: Log;
  readonly #isParked: Query<[number]>;
  readonly #releasing: Query<[string]>;
  readonly #state: Query<[number]>;
  readonly #firstParked: Query<[number, number]>;
  readonly #waits: Query<[number]>;
  readonly #first: Query<ListedRow>;
  readonly #list: Query<ListedRow>;
  readonly #one: Query<ListedRow>;
  readonly #waiting: Query<[number, number]>;
  readonly #now: () => number;
  readonly #addKey: StatementSync;
  readonly #addMessage: StatementSync;
  readonly #removeMessage: StatementSync;
  readonly #removeMessages: StatementSync;
  readonly #headDone: StatementSync;
  readonly #removeKey: StatementSync;
  readonly #startRelease: StatementSync;
  readonly #endRelease: StatementSync;
  readonly #parkAgain: StatementSync;

  constructor(db: DatabaseSync, log: Log, now: () => number) {
    this.#log = log;
    this.#now = now;
    const ofKey = 'group_id = ? AND topic_id = ? AND key = ?';
    const isThere = 'EXISTS (SELECT 1 FROM messages WHERE seq = dead_seq)';
    this.#isParked = prepareQuery(db, `SELECT 1 FROM parked_keys WHERE ${ofKey}`);
    this.#state = prepareQuery(db, `SELECT releasing FROM parked_keys WHERE ${ofKey}`);
    this.#releasing = prepareQuery(
      db,
      'SELECT key FROM parked_keys WHERE group_id = ? AND topic_id = ? AND partition_ = ? AND releasing = 1 LIMIT 1',
    );
    this.#firstParked = prepareQuery(
      db,
      `SELECT offset_, dead_seq FROM parked_messages WHERE ${ofKey} AND ${isThere} ORDER BY offset_ LIMIT 1`,
    );
    this.#waits = prepareQuery(db, `SELECT 1 FROM parked_messages WHERE ${ofKey} LIMIT 1`);
    this.#waiting = prepareQuery(
      db,
      `SELECT offset_, dead_seq FROM parked_messages WHERE ${ofKey} AND offset_ > ? AND ${isThere} ORDER BY offset_ LIMIT ?+0`,
    );
    const listed = `SELECT t.name, k.key, k.reason, k.attempts, k.since, k.releasing,
         (SELECT count(*) FROM parked_messages m
           WHERE m.group_id = k.group_id AND m.topic_id = k.topic_id AND m.key = k.key)
       FROM parked_keys k JOIN topics t ON t.id = k.topic_id WHERE k.group_id = ? AND k.topic_id = ?`;
    this.#first = prepareQuery(db, `${listed} ORDER BY k.key LIMIT ?+0`);
    this.#list = prepareQuery(db, `${listed} AND k.key > ? ORDER BY k.key LIMIT ?+0`);
    this.#one = prepareQuery(db, `${listed} AND k.key = ?`);
    this.#addKey = db.prepare(
      `INSERT OR IGNORE INTO parked_keys (group_id, topic_id, key, partition_, reason, attempts, since)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#addMessage = db.prepare(
      'INSERT INTO parked_messages (group_id, topic_id, key, offset_, dead_seq) VALUES (?, ?, ?, ?, ?)',
    );
    this.#removeMessage = db.prepare(`DELETE FROM parked_messages WHERE ${ofKey} AND offset_ = ?`);
    this.#removeMessages = db.prepare(`DELETE FROM parked_messages WHERE ${ofKey}`);
    this.#headDone = db.prepare(`UPDATE parked_keys SET attempts = 0 WHERE ${ofKey} AND attempts > 0`);
    this.#removeKey = db.prepare(`DELETE FROM parked_keys WHERE ${ofKey}`);
    this.#startRelease = db.prepare(`UPDATE parked_keys SET releasing = 1 WHERE ${ofKey}`);
    this.#endRelease = db.prepare(`UPDATE parked_keys SET releasing = 0 WHERE ${ofKey}`);
    this.#parkAgain = db.prepare(
      `UPDATE parked_keys SET releasing = 0, reason = ?, attempts = attempts + ? WHERE ${ofKey}`,
    );
  }

  isParked(lease: Lease, key: string): boolean {
    return this.#isParked.first(lease.groupId, lease.topicId, key) !== undefined;
  }

  /** Publishes the dead letter and parks its key. Answers the partition of the dead letter. */
  park(lease: Lease, source: Topic, dead: Topic, message: StoredMessage, reason: string, attempts: number): number {
    const { groupId, topicId } = lease;
    const { seq, partition } = this.#log.append(dead, deadLetter(source, message, reason, attempts));
    const now = Math.trunc(this.#now());
    this.#addKey.run(groupId, topicId, message.key, message.partition, shortened(reason), attempts, now);
    this.#addMessage.run(groupId, topicId, message.key, message.offset, seq);
    return partition;
  }

  /** A key of the partition that is to be handled again. */
  nextReleasing({ groupId, topicId, partition }: Lease): string | undefined {
    return this.#releasing.first(groupId, topicId, partition)?.[0];
  }

  /** The oldest message parked under a key whose dead letter is there, as it was before it was parked. */
  firstParked({ groupId, topicId, partition }: Lease, key: string): StoredMessage | undefined {
    const first = this.#firstParked.first(groupId, topicId, key);
    const stored = first && this.#log.bySeq(first[1]);
    return first && stored && { ...withoutAdded(stored), topicId, partition, offset: first[0] };
  }

  removeMessage({ groupId, topicId }: Lease, key: string, offset: number): void {
    this.#removeMessage.run(groupId, topicId, key, offset);
    this.#headDone.run(groupId, topicId, key);
  }

  /**
   * The release of a key has handed out every dead letter that there is: the key is free, or waits on when some are missing.
   * @returns whether it is free
   */
  finish({ groupId, topicId }: Lease, key: string): boolean {
    const free = this.#waits.first(groupId, topicId, key) === undefined;
    (free ? this.#removeKey : this.#endRelease).run(groupId, topicId, key);
    return free;
  }

  /** @param attempts how often the first message was tried this time */
  parkAgain({ groupId, topicId }: Lease, key: string, reason: string, attempts: number): void {
    this.#parkAgain.run(shortened(reason), attempts, groupId, topicId, key);
  }

  startRelease(groupId: number, topicId: number, key: string): void {
    this.#startRelease.run(groupId, topicId, key);
  }

  /**
   * Takes the first message of a key out, when it is the one at an offset and no release is under way, and starts the release
   * of those behind it. @returns whether it was
   */
  discard(groupId: number, topicId: number, key: string, offset: string): boolean {
    const first = this.#firstParked.first(groupId, topicId, key);
    if (first === undefined || String(first[0]) !== offset || this.isReleasing(groupId, topicId, key)) return false;
    this.#removeMessage.run(groupId, topicId, key, first[0]);
    this.#headDone.run(groupId, topicId, key);
    this.#startRelease.run(groupId, topicId, key);
    return true;
  }

  /**
   * Takes the messages of a key out when none of their dead letters is there and no release is under way, and starts its
   * release, which makes it free. @returns whether that is so
   */
  forget(groupId: number, topicId: number, key: string): boolean {
    const releasing = this.#state.first(groupId, topicId, key)?.[0];
    if (releasing !== 0 || this.#firstParked.first(groupId, topicId, key) !== undefined) return false;
    this.#removeMessages.run(groupId, topicId, key);
    this.#headDone.run(groupId, topicId, key);
    this.#startRelease.run(groupId, topicId, key);
    return true;
  }

  /** Whether a key still waits for the end of its release. */
  isReleasing(groupId: number, topicId: number, key: string): boolean {
    return this.#state.first(groupId, topicId, key)?.[0] === 1;
  }

  /** A page of the keys of some topics, in the order of topic and key. */
  list(groupId: number, topics: readonly Topic[], page: ParkedPage): readonly ParkedKey[] {
    const { after, only } = page;
    const limit = Math.min(page.limit ?? MAX_LISTED, MAX_LISTED);
    const rows: ListedRow[] = [];
    for (const { id, name } of [...topics].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (rows.length >= limit) break;
      if (only !== undefined) {
        if (only.topic === name) rows.push(...this.#one.all(groupId, id, only.key));
      } else if (name === after?.topic) {
        rows.push(...this.#list.all(groupId, id, after.key, limit - rows.length));
      } else if (after === undefined || name > after.topic) {
        rows.push(...this.#first.all(groupId, id, limit - rows.length));
      }
    }
    return rows.map(([topic, key, reason, attempts, since, releasing, messages]) => ({
      ...{ topic, key, reason, attempts, messages },
      since: new Date(since).toISOString(),
      releasing: releasing === 1,
    }));
  }

  /** A page of the messages that wait under a key. @param after `next` of the page before @throws RangeError */
  letters(groupId: number, topic: Topic, key: string, limit: number, after: string | undefined): LetterPage {
    if (after !== undefined && !/^\d{1,15}$/.test(after))
      throw new RangeError(`${after} is no place among dead letters`);
    const found = this.#waiting.all(groupId, topic.id, key, after === undefined ? -1 : Number(after), limit + 1);
    const letters = found.slice(0, limit).flatMap(([offset, seq]) => {
      const stored = this.#log.bySeq(seq);
      return stored === undefined ? [] : [describe(topic, stored, offset)];
    });
    const last = found[limit - 1];
    return { letters, ...(found.length > limit && last !== undefined ? { next: String(last[0]) } : {}) };
  }
}

/** A dead letter as the message was before it was parked. */
const withoutAdded = (letter: StoredMessage): StoredMessage => {
  const headers = Object.entries(JSON.parse(letter.headers) as Record<string, string>);
  return { ...letter, headers: JSON.stringify(Object.fromEntries(headers.filter(([name]) => !added.has(name)))) };
};

const describe = (topic: Topic, letter: StoredMessage, offset: number): DeadLetter => {
  const headers = JSON.parse(letter.headers) as Record<string, string>;
  const read = ((): Pick<DeadLetter, 'event'> => {
    try {
      return { event: toBusMessage(topic.name, withoutAdded(letter)).event };
    } catch {
      return {}; // that it cannot be read is why it is here
    }
  })();
  return {
    topic: topic.name,
    partition: Number(headers[DEAD_LETTER_HEADERS.partition] ?? 0),
    offset: String(offset),
    key: letter.key,
    reason: headers[DEAD_LETTER_HEADERS.reason] ?? '',
    attempts: Number(headers[DEAD_LETTER_HEADERS.attempts] ?? 0),
    parkedAt: new Date(letter.publishedAt).toISOString(),
    bytes: letter.value.byteLength,
    ...read,
  };
};
