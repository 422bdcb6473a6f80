import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { prepareQuery, type Query } from '@bindery/event-store/sqlite-kit';
import { DEAD_LETTER_HEADERS } from '../../dead-letters.ts';
import type { Lease } from './groups.ts';
import type { EncodedMessage, Log, StoredMessage, Topic } from './log.ts';

const MAX_REASON = 2000;
/** Parked keys listed at most; there is a page of them on any dashboard, and a count in the metric. */
const MAX_LISTED = 1000;

export interface ParkedKey {
  readonly topic: string;
  readonly key: string;
  readonly reason: string;
  readonly messages: number;
}

/** Bytes and headers stay as they were; where it came from and why it is here are added (PITFALLS 35). */
const deadLetter = (source: Topic, message: StoredMessage, reason: string, attempts: number): EncodedMessage => {
  const own = JSON.parse(message.headers) as Record<string, string>;
  const headers = JSON.stringify({
    ...own,
    [DEAD_LETTER_HEADERS.topic]: source.name,
    [DEAD_LETTER_HEADERS.partition]: String(message.partition),
    [DEAD_LETTER_HEADERS.offset]: String(message.offset),
    [DEAD_LETTER_HEADERS.reason]: reason.slice(0, MAX_REASON),
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
  readonly #list: Query<[string, string, string, number]>;
  readonly #addKey: StatementSync;
  readonly #addMessage: StatementSync;
  readonly #removeMessage: StatementSync;
  readonly #removeKey: StatementSync;
  readonly #startRelease: StatementSync;
  readonly #parkAgain: StatementSync;

  constructor(db: DatabaseSync, log: Log) {
    this.#log = log;
    const ofKey = 'group_id = ? AND topic_id = ? AND key = ?';
    this.#isParked = prepareQuery(db, `SELECT 1 FROM parked_keys WHERE ${ofKey}`);
    this.#state = prepareQuery(db, `SELECT releasing FROM parked_keys WHERE ${ofKey}`);
    this.#releasing = prepareQuery(
      db,
      'SELECT key FROM parked_keys WHERE group_id = ? AND topic_id = ? AND partition_ = ? AND releasing = 1 LIMIT 1',
    );
    this.#firstParked = prepareQuery(
      db,
      `SELECT offset_, dead_seq FROM parked_messages WHERE ${ofKey} ORDER BY offset_ LIMIT 1`,
    );
    this.#list = prepareQuery(
      db,
      `SELECT t.name, k.key, k.reason, (SELECT count(*) FROM parked_messages m
         WHERE m.group_id = k.group_id AND m.topic_id = k.topic_id AND m.key = k.key)
       FROM parked_keys k JOIN topics t ON t.id = k.topic_id WHERE k.group_id = ? AND k.topic_id = ? ORDER BY k.key LIMIT ?+0`,
    );
    this.#addKey = db.prepare(
      'INSERT OR IGNORE INTO parked_keys (group_id, topic_id, key, partition_, reason) VALUES (?, ?, ?, ?, ?)',
    );
    this.#addMessage = db.prepare(
      'INSERT INTO parked_messages (group_id, topic_id, key, offset_, dead_seq) VALUES (?, ?, ?, ?, ?)',
    );
    this.#removeMessage = db.prepare(`DELETE FROM parked_messages WHERE ${ofKey} AND offset_ = ?`);
    this.#removeKey = db.prepare(`DELETE FROM parked_keys WHERE ${ofKey}`);
    this.#startRelease = db.prepare(`UPDATE parked_keys SET releasing = 1 WHERE ${ofKey}`);
    this.#parkAgain = db.prepare(`UPDATE parked_keys SET releasing = 0, reason = ? WHERE ${ofKey}`);
  }

  isParked(lease: Lease, key: string): boolean {
    return this.#isParked.first(lease.groupId, lease.topicId, key) !== undefined;
  }

  /** Publishes the dead letter and parks its key. Answers the partition of the dead letter. */
  park(lease: Lease, source: Topic, dead: Topic, message: StoredMessage, reason: string, attempts: number): number {
    const { groupId, topicId } = lease;
    const { seq, partition } = this.#log.append(dead, deadLetter(source, message, reason, attempts));
    this.#addKey.run(groupId, topicId, message.key, message.partition, reason.slice(0, MAX_REASON));
    this.#addMessage.run(groupId, topicId, message.key, message.offset, seq);
    return partition;
  }

  /** A key of the partition that is to be handled again. */
  nextReleasing({ groupId, topicId, partition }: Lease): string | undefined {
    return this.#releasing.first(groupId, topicId, partition)?.[0];
  }

  /** The oldest message parked under a key, as it was before it was parked. */
  firstParked({ groupId, topicId, partition }: Lease, key: string): StoredMessage | undefined {
    const first = this.#firstParked.first(groupId, topicId, key);
    const stored = first && this.#log.bySeq(first[1]);
    if (!first || !stored) return undefined;
    const headers = Object.entries(JSON.parse(stored.headers) as Record<string, string>);
    const own = JSON.stringify(Object.fromEntries(headers.filter(([name]) => !added.has(name))));
    return { ...stored, topicId, partition, offset: first[0], headers: own };
  }

  removeMessage({ groupId, topicId }: Lease, key: string, offset: number): void {
    this.#removeMessage.run(groupId, topicId, key, offset);
  }

  removeKey({ groupId, topicId }: Lease, key: string): void {
    this.#removeKey.run(groupId, topicId, key);
  }

  parkAgain({ groupId, topicId }: Lease, key: string, reason: string): void {
    this.#parkAgain.run(reason.slice(0, MAX_REASON), groupId, topicId, key);
  }

  startRelease(groupId: number, topicId: number, key: string): void {
    this.#startRelease.run(groupId, topicId, key);
  }

  /** Whether a key still waits for the end of its release. */
  isReleasing(groupId: number, topicId: number, key: string): boolean {
    return this.#state.first(groupId, topicId, key)?.[0] === 1;
  }

  list(groupId: number, topicIds: readonly number[]): readonly ParkedKey[] {
    return topicIds
      .flatMap((topicId) => this.#list.all(groupId, topicId, MAX_LISTED))
      .slice(0, MAX_LISTED)
      .map(([topic, key, reason, messages]) => ({ topic, key, reason, messages }));
  }
}
