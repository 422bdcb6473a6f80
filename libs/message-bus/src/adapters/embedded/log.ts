import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { prepareQuery, type Query } from '@bindery/event-store/sqlite-kit';
import { fromBinary } from '../../cloud-events.ts';
import { partitionOf } from '../../partitioner.ts';
import { type BusMessage, UnknownTopic } from '../../port.ts';

export interface Topic {
  readonly id: number;
  readonly name: string;
  readonly partitions: number;
}

/** A message as written: encoded before it is queued, so that nothing can fail inside the transaction. */
export interface EncodedMessage {
  readonly key: string;
  readonly value: Uint8Array;
  /** JSON object of texts. */
  readonly headers: string;
  readonly bytes: number;
}

/** A message as stored. */
export interface StoredMessage extends EncodedMessage {
  readonly seq: number;
  readonly topicId: number;
  readonly partition: number;
  readonly offset: number;
  /** Milliseconds since 1970. */
  readonly publishedAt: number;
}

export type MessageRow = [
  seq: number,
  topicId: number,
  partition: number,
  offset: number,
  publishedAt: number,
  bytes: number,
  key: string,
  headers: string,
  value: Uint8Array,
];

export const MESSAGE_COLUMNS = 'seq, topic_id, partition_, offset_, published_at, bytes, key, headers, value';

export const toStored = ([
  seq,
  topicId,
  partition,
  offset,
  publishedAt,
  bytes,
  key,
  headers,
  value,
]: MessageRow): StoredMessage => ({
  seq,
  topicId,
  partition,
  offset,
  publishedAt,
  bytes,
  key,
  headers,
  value,
});

/** Decodes for a handler. @throws InvalidCloudEvent */
export const toBusMessage = (topic: string, stored: StoredMessage): BusMessage => {
  const headers = JSON.parse(stored.headers) as Record<string, string>;
  const { key, value, partition } = stored;
  return { topic, partition, offset: String(stored.offset), key, event: fromBinary({ key, value, headers }), headers };
};

/** Topics and their messages. Writing methods are called inside the shared transaction. */
export class Log {
  readonly #db: DatabaseSync;
  readonly #now: () => number;
  readonly #topicByName: Query<[number, string, number]>;
  readonly #partition: Query<[number]>;
  readonly #after: Query<MessageRow>;
  readonly #newest: Query<MessageRow>;
  readonly #bySeq: Query<MessageRow>;
  readonly #head: Query<[number | null]>;
  readonly #merged = new Map<number, Query<MessageRow>>();
  readonly #insertTopic: StatementSync;
  readonly #insertPartition: StatementSync;
  readonly #insertMessage: StatementSync;
  readonly #advance: StatementSync;

  constructor(db: DatabaseSync, now: () => number) {
    this.#db = db;
    this.#now = now;
    this.#topicByName = prepareQuery(db, 'SELECT id, name, partitions FROM topics WHERE name = ?');
    this.#partition = prepareQuery(db, 'SELECT next_offset FROM partitions WHERE topic_id = ? AND partition_ = ?');
    this.#after = prepareQuery(
      db,
      `SELECT ${MESSAGE_COLUMNS} FROM messages WHERE topic_id = ? AND partition_ = ? AND offset_ >= ? ORDER BY offset_ LIMIT ?+0`,
    );
    this.#newest = prepareQuery(
      db,
      `SELECT ${MESSAGE_COLUMNS} FROM messages WHERE topic_id = ? ORDER BY seq DESC LIMIT ?+0`,
    );
    this.#bySeq = prepareQuery(db, `SELECT ${MESSAGE_COLUMNS} FROM messages WHERE seq = ?`);
    this.#head = prepareQuery(db, 'SELECT max(seq) FROM messages');
    this.#insertTopic = db.prepare('INSERT INTO topics (name, partitions) VALUES (?, ?)');
    this.#insertPartition = db.prepare('INSERT INTO partitions (topic_id, partition_) VALUES (?, ?)');
    this.#insertMessage = db.prepare(
      `INSERT INTO messages (topic_id, partition_, offset_, published_at, bytes, key, headers, value)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#advance = db.prepare(
      'UPDATE partitions SET next_offset = next_offset + 1, bytes = bytes + ? WHERE topic_id = ? AND partition_ = ?',
    );
  }

  /** @throws UnknownTopic */
  topic(name: string): Topic {
    const found = this.#topicByName.first(name);
    if (!found) throw new UnknownTopic(name);
    return { id: found[0], name: found[1], partitions: found[2] };
  }

  /** Creates a topic when absent. Inside the transaction. */
  createTopic(name: string, partitions: number): void {
    if (this.#topicByName.first(name)) return;
    const id = Number(this.#insertTopic.run(name, partitions).lastInsertRowid);
    for (let partition = 0; partition < partitions; partition += 1) this.#insertPartition.run(id, partition);
  }

  /** Appends one message to the partition of its key. Inside the transaction. */
  append(topic: Topic, message: EncodedMessage): { readonly seq: number; readonly partition: number } {
    const partition = partitionOf(message.key, topic.partitions);
    const [offset] = this.#partition.first(topic.id, partition) ?? [0];
    const { key, headers, value, bytes } = message;
    const now = Math.trunc(this.#now());
    const written = this.#insertMessage.run(topic.id, partition, offset, now, bytes, key, headers, value);
    this.#advance.run(bytes, topic.id, partition);
    return { seq: Number(written.lastInsertRowid), partition };
  }

  /** Messages of one partition from an offset on. */
  fetch(topicId: number, partition: number, from: number, limit: number): readonly StoredMessage[] {
    return this.#after.all(topicId, partition, from, limit).map(toStored);
  }

  /** The last messages of a topic, newest last. */
  newest(topicId: number, limit: number): readonly StoredMessage[] {
    return this.#newest.all(topicId, limit).map(toStored).reverse();
  }

  bySeq(seq: number): StoredMessage | undefined {
    const row = this.#bySeq.first(seq);
    return row && toStored(row);
  }

  /** Order number of the last message of all, 0 when there is none. */
  head(): number {
    return this.#head.first()?.[0] ?? 0;
  }

  /** Messages of several topics in the order of publishing. */
  page(topicIds: readonly number[], after: number, upTo: number, limit: number): readonly StoredMessage[] {
    const parameters = topicIds.flatMap((id) => [id, after, upTo]);
    return this.#mergedQuery(topicIds.length)
      .all(...parameters, limit)
      .map(toStored);
  }

  /** One index range per topic, merged lazily by SQLite. */
  #mergedQuery(topics: number): Query<MessageRow> {
    const known = this.#merged.get(topics);
    if (known) return known;
    const arm = 'SELECT seq AS s FROM messages WHERE topic_id = ? AND seq > ? AND seq <= ?';
    const union = Array.from({ length: topics }, () => arm).join(' UNION ALL ');
    const query = prepareQuery<MessageRow>(
      this.#db,
      `SELECT ${MESSAGE_COLUMNS} FROM (${union} ORDER BY s LIMIT ?+0) CROSS JOIN messages ON seq = s ORDER BY seq`,
    );
    this.#merged.set(topics, query);
    return query;
  }
}
