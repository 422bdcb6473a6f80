import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { prepareQuery, type Query } from '@bindery/event-store/sqlite-kit';

/** A partition that a member works on, as long as the epoch in the database is this one. */
export interface Lease {
  readonly groupId: number;
  readonly topicId: number;
  readonly partition: number;
  readonly owner: string;
  readonly epoch: number;
}

/** Another member has taken the partition over: nothing may be written for it any more. */
export class LeaseLost extends Error {
  readonly code = 'message_bus.lease_lost';
}

export interface Assignment {
  readonly topicId: number;
  readonly partition: number;
  readonly nextOffset: number;
  readonly owner: string | undefined;
  readonly epoch: number;
}

export interface Member {
  readonly id: string;
  readonly instance: string;
  readonly topicIds: readonly number[];
  /** Counts up while its process lives. */
  readonly beat: number;
}

/** Groups, their members, leases and offsets. Writing methods are called inside the shared transaction. */
export class Groups {
  readonly #groupByName: Query<[number]>;
  readonly #assignments: Query<[number, number, number, string | null, number]>;
  readonly #members: Query<[string, string, string, number]>;
  readonly #lag: Query<[number, number | null]>;
  readonly #holds: Query<[number]>;
  readonly #nextOffset: Query<[number]>;
  readonly #insertGroup: StatementSync;
  readonly #addAssignment: StatementSync;
  readonly #addAssignmentAtEnd: StatementSync;
  readonly #addMember: StatementSync;
  readonly #removeMember: StatementSync;
  readonly #addInstance: StatementSync;
  readonly #removeInstance: StatementSync;
  readonly #forgetInstance: StatementSync;
  readonly #beat: StatementSync;
  readonly #take: StatementSync;
  readonly #leave: StatementSync;
  readonly #commit: StatementSync;

  constructor(db: DatabaseSync) {
    this.#groupByName = prepareQuery(db, 'SELECT id FROM groups_ WHERE name = ?');
    this.#assignments = prepareQuery(
      db,
      'SELECT topic_id, partition_, next_offset, owner, epoch FROM assignments WHERE group_id = ? AND topic_id = ? ORDER BY partition_',
    );
    this.#members = prepareQuery(
      db,
      `SELECT m.id, m.instance_id, m.topics, i.beat FROM members m JOIN instances i ON i.id = m.instance_id
       WHERE m.group_id = ? ORDER BY m.id`,
    );
    this.#lag = prepareQuery(
      db,
      `SELECT max(0, p.next_offset - max(a.next_offset, p.first_offset)),
              (SELECT published_at FROM messages m WHERE m.topic_id = a.topic_id AND m.partition_ = a.partition_
               AND m.offset_ >= a.next_offset ORDER BY m.offset_ LIMIT 1)
       FROM assignments a JOIN partitions p ON p.topic_id = a.topic_id AND p.partition_ = a.partition_
       WHERE a.group_id = ? AND a.topic_id = ?`,
    );
    const held = 'group_id = ? AND topic_id = ? AND partition_ = ? AND owner = ? AND epoch = ?';
    this.#holds = prepareQuery(db, `SELECT 1 FROM assignments WHERE ${held}`);
    this.#nextOffset = prepareQuery(
      db,
      'SELECT next_offset FROM assignments WHERE group_id = ? AND topic_id = ? AND partition_ = ?',
    );
    this.#insertGroup = db.prepare('INSERT OR IGNORE INTO groups_ (name) VALUES (?)');
    const add =
      'INSERT OR IGNORE INTO assignments (group_id, topic_id, partition_, next_offset) SELECT ?, topic_id, partition_';
    this.#addAssignment = db.prepare(`${add}, first_offset FROM partitions WHERE topic_id = ?`);
    this.#addAssignmentAtEnd = db.prepare(`${add}, next_offset FROM partitions WHERE topic_id = ?`);
    this.#addMember = db.prepare(
      'INSERT OR IGNORE INTO members (group_id, id, instance_id, topics) VALUES (?, ?, ?, ?)',
    );
    this.#removeMember = db.prepare('DELETE FROM members WHERE group_id = ? AND id = ?');
    this.#addInstance = db.prepare('INSERT OR IGNORE INTO instances (id) VALUES (?)');
    this.#removeInstance = db.prepare('DELETE FROM instances WHERE id = ? AND beat = ?');
    this.#forgetInstance = db.prepare('DELETE FROM instances WHERE id = ?');
    this.#beat = db.prepare('UPDATE instances SET beat = beat + 1 WHERE id = ?');
    this.#take = db.prepare(
      `UPDATE assignments SET owner = ?, epoch = epoch + 1
       WHERE group_id = ? AND topic_id = ? AND partition_ = ? AND owner IS ? AND epoch = ?`,
    );
    this.#leave = db.prepare(`UPDATE assignments SET owner = NULL WHERE ${held}`);
    this.#commit = db.prepare(`UPDATE assignments SET next_offset = ? WHERE ${held}`);
  }

  id(name: string): number | undefined {
    return this.#groupByName.first(name)?.[0];
  }

  /** Creates the group and its offsets for the topics when absent, and adds the member. */
  join(group: string, member: Omit<Member, 'beat'>, from: 'beginning' | 'end'): number {
    this.#insertGroup.run(group);
    const groupId = this.id(group) ?? 0;
    const add = from === 'beginning' ? this.#addAssignment : this.#addAssignmentAtEnd;
    for (const topicId of member.topicIds) add.run(groupId, topicId);
    this.#addInstance.run(member.instance);
    this.#addMember.run(groupId, member.id, member.instance, JSON.stringify(member.topicIds));
    return groupId;
  }

  /** Shows that the process lives. False when another one has declared it dead: then join again. */
  beat(instance: string): boolean {
    return Number(this.#beat.run(instance).changes) > 0;
  }

  removeMember(groupId: number, member: string): void {
    this.#removeMember.run(groupId, member);
  }

  /** Removes a process that has not moved its beat, with its members. */
  removeInstance(instance: string, beat: number): void {
    this.#removeInstance.run(instance, beat);
  }

  /** Removes the own process when it ends. */
  forgetInstance(instance: string): void {
    this.#forgetInstance.run(instance);
  }

  members(groupId: number): readonly Member[] {
    return this.#members
      .all(groupId)
      .map(([id, instance, topics, beat]) => ({ id, instance, topicIds: JSON.parse(topics) as number[], beat }));
  }

  assignments(groupId: number, topicIds: readonly number[]): readonly Assignment[] {
    return topicIds.flatMap((wanted) =>
      this.#assignments.all(groupId, wanted).map(([topicId, partition, nextOffset, owner, epoch]) => ({
        topicId,
        partition,
        nextOffset,
        owner: owner ?? undefined,
        epoch,
      })),
    );
  }

  /** Takes a partition as it was seen. Undefined when somebody was quicker. */
  take(
    groupId: number,
    seen: Assignment,
    owner: string,
  ): { readonly lease: Lease; readonly nextOffset: number } | undefined {
    const { topicId, partition, epoch } = seen;
    const { changes } = this.#take.run(owner, groupId, topicId, partition, seen.owner ?? null, epoch);
    if (Number(changes) === 0) return undefined;
    const [nextOffset] = this.#nextOffset.first(groupId, topicId, partition) ?? [seen.nextOffset];
    return { lease: { groupId, topicId, partition, owner, epoch: epoch + 1 }, nextOffset };
  }

  /** Gives a partition back; nothing happens when it was lost already. */
  leave({ groupId, topicId, partition, owner, epoch }: Lease): void {
    this.#leave.run(groupId, topicId, partition, owner, epoch);
  }

  /** @throws LeaseLost */
  mustHold({ groupId, topicId, partition, owner, epoch }: Lease): void {
    if (this.#holds.first(groupId, topicId, partition, owner, epoch)) return;
    throw new LeaseLost(`partition ${partition} was taken over by another member`);
  }

  /** Stores the next offset to handle; call `mustHold` before in the same transaction. */
  commit({ groupId, topicId, partition, owner, epoch }: Lease, nextOffset: number): void {
    this.#commit.run(nextOffset, groupId, topicId, partition, owner, epoch);
  }

  /** Messages not yet handled in the topics, and when the oldest of them was published. */
  lag(
    groupId: number,
    topicIds: readonly number[],
  ): { readonly messages: number; readonly oldest: number | undefined } {
    const rows = topicIds.flatMap((topicId) => this.#lag.all(groupId, topicId));
    const times = rows.flatMap(([messages, time]) => (messages > 0 && time !== null ? [time] : []));
    return {
      messages: rows.reduce((sum, [messages]) => sum + messages, 0),
      oldest: times.length > 0 ? Math.min(...times) : undefined,
    };
  }
}
