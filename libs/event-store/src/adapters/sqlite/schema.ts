/** Marks a file as an event store in its header ("BnEs"). */
export const APPLICATION_ID = 0x42_6e_45_73;

/**
 * One entry per schema version; entries are never edited, only added.
 *
 * `position` is the row id: last + 1, assigned inside the transaction. Rows are never deleted or changed, so the last
 * position is also the number of events. The category is copied into each event so that (category, position) is an index:
 * a reader of one prefix never visits the events of others.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE categories (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE
   ) STRICT;
   CREATE TABLE streams (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     category_id INTEGER NOT NULL REFERENCES categories (id)
   ) STRICT;
   CREATE TABLE events (
     position INTEGER PRIMARY KEY,
     stream_id INTEGER NOT NULL REFERENCES streams (id),
     category_id INTEGER NOT NULL,
     revision INTEGER NOT NULL,
     id TEXT NOT NULL,
     type TEXT NOT NULL,
     data TEXT NOT NULL,
     metadata TEXT NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX events_by_stream ON events (stream_id, revision);
   CREATE UNIQUE INDEX events_by_id ON events (id);
   CREATE INDEX events_by_category ON events (category_id);`,
];
