import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type GroupCommit, prepareQuery, type Query } from '@bindery/event-store/sqlite-kit';
import { type BusProblem, plainWrite } from './context.ts';

export interface RetentionOptions {
  /** Handled messages older than this go. Default 7 days. */
  readonly maxAgeDays?: number;
  /** Above this the oldest messages go, handled or not. Default: no limit. */
  readonly maxBytes?: number;
  /** Time between two rounds, in ms. Default 60,000. */
  readonly everyMs?: number;
}

interface PartitionState {
  readonly topicId: number;
  readonly topic: string;
  readonly partition: number;
  readonly firstOffset: number;
  /** The least offset that some group has still to handle; undefined when no group reads the topic. */
  readonly slowest: number | undefined;
}

const BATCH = 500;
const DAY_MS = 86_400_000;

/**
 * Drops old messages in small transactions. Age never drops what a group has not handled, but reports that it is held
 * back; the size limit protects the disk and drops it, and reports the loss. Parked messages are always kept.
 */
export class Retention {
  readonly #commits: GroupCommit;
  readonly #options: RetentionOptions;
  readonly #now: () => number;
  readonly #onProblem: (problem: BusProblem) => void;
  readonly #partitions: Query<[number, string, number, number, number | null]>;
  readonly #oldest: Query<[number, number, number, number]>;
  readonly #oldestOfAll: Query<[number, number, number, number, number]>;
  readonly #size: Query<[number | null]>;
  readonly #delete: StatementSync;
  readonly #advance: StatementSync;
  readonly #timer: NodeJS.Timeout;

  constructor(
    db: DatabaseSync,
    commits: GroupCommit,
    options: RetentionOptions & { readonly now: () => number; readonly onProblem: (problem: BusProblem) => void },
  ) {
    this.#commits = commits;
    this.#options = options;
    this.#now = options.now;
    this.#onProblem = options.onProblem;
    this.#partitions = prepareQuery(
      db,
      `SELECT p.topic_id, t.name, p.partition_, p.first_offset,
              (SELECT min(a.next_offset) FROM assignments a WHERE a.topic_id = p.topic_id AND a.partition_ = p.partition_)
       FROM partitions p JOIN topics t ON t.id = p.topic_id`,
    );
    const free = 'NOT EXISTS (SELECT 1 FROM parked_messages k WHERE k.dead_seq = m.seq)';
    this.#oldest = prepareQuery(
      db,
      `SELECT seq, offset_, published_at, bytes FROM messages m
       WHERE topic_id = ? AND partition_ = ? AND offset_ >= ? AND ${free} ORDER BY offset_ LIMIT ${BATCH}`,
    );
    this.#oldestOfAll = prepareQuery(
      db,
      `SELECT seq, topic_id, partition_, offset_, bytes FROM messages m WHERE ${free} ORDER BY seq LIMIT ${BATCH}`,
    );
    this.#size = prepareQuery(db, 'SELECT sum(bytes) FROM partitions');
    this.#delete = db.prepare('DELETE FROM messages WHERE seq = ?');
    this.#advance = db.prepare(
      `UPDATE partitions SET bytes = bytes - ?, first_offset = max(first_offset, ?) WHERE topic_id = ? AND partition_ = ?`,
    );
    this.#timer = setInterval(() => void this.run(), options.everyMs ?? 60_000);
    this.#timer.unref();
  }

  /** One round: at most one small transaction per partition, and the size limit. Never rejects. */
  async run(): Promise<void> {
    try {
      const partitions = this.#states();
      for (const state of partitions) await this.#dropOld(state);
      await this.#dropExcess(partitions);
    } catch (error) {
      this.#onProblem({ kind: 'retention-failed', error });
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #states(): readonly PartitionState[] {
    return this.#partitions.all().map(([topicId, topic, partition, firstOffset, slowest]) => ({
      topicId,
      topic,
      partition,
      firstOffset,
      slowest: slowest ?? undefined,
    }));
  }

  async #dropOld({ topicId, topic, partition, firstOffset, slowest }: PartitionState): Promise<void> {
    const limit = this.#now() - (this.#options.maxAgeDays ?? 7) * DAY_MS;
    const rows = this.#oldest.all(topicId, partition, firstOffset);
    const young = rows.findIndex(([, , publishedAt]) => publishedAt >= limit);
    const old = young === -1 ? rows : rows.slice(0, young);
    const handled = old.filter(([, offset]) => slowest === undefined || offset < slowest);
    if (handled.length < old.length) {
      this.#onProblem({ kind: 'retention-held-back', topic, partition, messages: old.length - handled.length });
    }
    if (handled.length === 0) return;
    await this.#commits.submit(plainWrite(() => this.#drop(topicId, partition, handled)));
  }

  async #dropExcess(partitions: readonly PartitionState[]): Promise<void> {
    const { maxBytes } = this.#options;
    if (maxBytes === undefined) return;
    let excess = (this.#size.first()?.[0] ?? 0) - maxBytes;
    const going = this.#oldestOfAll.all().filter(([, , , , bytes]) => {
      excess -= bytes;
      return excess + bytes > 0;
    });
    for (const { topicId, topic, partition, slowest } of partitions) {
      const rows = going
        .filter((row) => row[1] === topicId && row[2] === partition)
        .map(([seq, , , offset, bytes]): [number, number, number, number] => [seq, offset, 0, bytes]);
      if (rows.length === 0) continue;
      await this.#commits.submit(plainWrite(() => this.#drop(topicId, partition, rows)));
      const lost = rows.filter(([, offset]) => slowest !== undefined && offset >= slowest).length;
      if (lost > 0) this.#onProblem({ kind: 'retention-lost', topic, partition, messages: lost });
    }
  }

  #drop(topicId: number, partition: number, rows: readonly (readonly [number, number, number, number])[]): void {
    for (const [seq] of rows) this.#delete.run(seq);
    const bytes = rows.reduce((sum, [, , , size]) => sum + size, 0);
    const next = (rows.at(-1)?.[1] ?? -1) + 1;
    this.#advance.run(bytes, next, topicId, partition);
  }
}
