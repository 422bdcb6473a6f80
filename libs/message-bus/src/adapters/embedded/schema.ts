/** Marks a file as a message log in its header ("BnMb"). */
export const APPLICATION_ID = 0x42_6e_4d_62;

/**
 * One entry per schema version; entries are never edited, only added.
 *
 * `messages.seq` is the order of publishing over all topics; `offset_` counts within a partition. The small columns come
 * first, so that reading them never touches the pages of a large value. `assignments` holds both the committed offset
 * of a group and the lease of the member that works on the partition: whoever takes it over raises `epoch`, and every
 * later write names the epoch it believes in (PITFALLS 30). `publishers` holds the epoch of the one that may publish
 * under an id, compared in the same way.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE topics (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     partitions INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE partitions (
     topic_id INTEGER NOT NULL REFERENCES topics (id),
     partition_ INTEGER NOT NULL,
     first_offset INTEGER NOT NULL DEFAULT 0,
     next_offset INTEGER NOT NULL DEFAULT 0,
     bytes INTEGER NOT NULL DEFAULT 0,
     PRIMARY KEY (topic_id, partition_)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE messages (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     topic_id INTEGER NOT NULL,
     partition_ INTEGER NOT NULL,
     offset_ INTEGER NOT NULL,
     published_at INTEGER NOT NULL,
     bytes INTEGER NOT NULL,
     key TEXT NOT NULL,
     headers TEXT NOT NULL,
     value BLOB NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX messages_by_partition ON messages (topic_id, partition_, offset_);
   CREATE INDEX messages_by_topic ON messages (topic_id);
   CREATE TABLE groups_ (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE
   ) STRICT;
   CREATE TABLE assignments (
     group_id INTEGER NOT NULL REFERENCES groups_ (id),
     topic_id INTEGER NOT NULL,
     partition_ INTEGER NOT NULL,
     next_offset INTEGER NOT NULL,
     owner TEXT,
     epoch INTEGER NOT NULL DEFAULT 0,
     PRIMARY KEY (group_id, topic_id, partition_)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX assignments_by_partition ON assignments (topic_id, partition_);
   CREATE TABLE instances (
     id TEXT PRIMARY KEY,
     beat INTEGER NOT NULL DEFAULT 0
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE members (
     group_id INTEGER NOT NULL REFERENCES groups_ (id),
     id TEXT NOT NULL,
     instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
     topics TEXT NOT NULL,
     PRIMARY KEY (group_id, id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX members_by_instance ON members (instance_id);
   CREATE TABLE parked_keys (
     group_id INTEGER NOT NULL REFERENCES groups_ (id),
     topic_id INTEGER NOT NULL,
     key TEXT NOT NULL,
     partition_ INTEGER NOT NULL,
     reason TEXT NOT NULL,
     releasing INTEGER NOT NULL DEFAULT 0,
     PRIMARY KEY (group_id, topic_id, key)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX parked_releasing ON parked_keys (group_id, topic_id, partition_) WHERE releasing = 1;
   CREATE TABLE parked_messages (
     group_id INTEGER NOT NULL,
     topic_id INTEGER NOT NULL,
     key TEXT NOT NULL,
     offset_ INTEGER NOT NULL,
     dead_seq INTEGER NOT NULL REFERENCES messages (seq),
     PRIMARY KEY (group_id, topic_id, key, offset_)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX parked_by_dead_letter ON parked_messages (dead_seq);`,
  `CREATE TABLE publishers (
     id TEXT PRIMARY KEY,
     epoch INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  `ALTER TABLE parked_keys ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE parked_keys ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
   UPDATE parked_keys SET since = coalesce((
     SELECT min(m.published_at) FROM parked_messages p JOIN messages m ON m.seq = p.dead_seq
     WHERE p.group_id = parked_keys.group_id AND p.topic_id = parked_keys.topic_id AND p.key = parked_keys.key), 0);`,
];
