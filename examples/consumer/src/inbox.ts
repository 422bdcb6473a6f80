import { DatabaseSync } from 'node:sqlite';
import type { Merged } from './event.ts';

/** Where a message stood; the key of one that could not be read. */
export interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
}

/** The consumer's own data, and the ids of the events that are in them already. */
export interface Inbox {
  /** Applies an event. @returns false when it was applied before: nothing changed */
  apply(event: Merged): boolean;
  /** Puts aside what cannot be read, for people to look at. */
  refuse(place: Place, reason: string): void;
  close(): void;
}

/**
 * Ids and effect are written together, or not at all. So it does not matter when the process ends: before the write nothing
 * has happened and the event comes again; after it the event comes again too if its offset was not committed, and is known.
 * Ids are kept for as long as the topic keeps events; delete older ones from time to time.
 */
export const openInbox = (path: string): Inbox => {
  const db = new DatabaseSync(path, { timeout: 10_000 });
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS inbox (event_id TEXT PRIMARY KEY, at TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS merges (space_id TEXT PRIMARY KEY, count INTEGER NOT NULL, last TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS refused (
      topic TEXT, part INTEGER, at_offset TEXT, reason TEXT NOT NULL, PRIMARY KEY (topic, part, at_offset)
    ) STRICT;
  `);
  const remember = db.prepare('INSERT INTO inbox (event_id, at) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const count = db.prepare(`
    INSERT INTO merges (space_id, count, last) VALUES (?, 1, ?)
    ON CONFLICT DO UPDATE SET count = count + 1, last = max(last, excluded.last)
  `);
  const putAside = db.prepare('INSERT INTO refused VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
  return {
    apply: ({ id, spaceId, mergedAt }) => {
      db.exec('BEGIN IMMEDIATE');
      try {
        const isNew = remember.run(id, new Date().toISOString()).changes === 1;
        if (isNew) count.run(spaceId, mergedAt);
        db.exec('COMMIT');
        return isNew;
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK');
        throw error;
      }
    },
    refuse: ({ topic, partition, offset }, reason) => void putAside.run(topic, partition, offset, reason),
    close: () => db.close(),
  };
};
