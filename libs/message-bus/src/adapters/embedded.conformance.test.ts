import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describeMessageBusConformance } from '@bindery/testing';
import { toBinary } from '../cloud-events.ts';
import type { CloudEvent } from '../port.ts';
import { Log } from './embedded/log.ts';
import { openEmbeddedMessageBus } from './embedded.ts';

/** Past the library, which has no way to publish without a key. */
const writeKeyless = (path: string, topic: string, events: readonly CloudEvent[]): void => {
  const db = new DatabaseSync(path, { timeout: 5000 });
  try {
    const log = new Log(db, Date.now);
    db.exec('BEGIN IMMEDIATE');
    for (const event of events) {
      const { value, headers } = toBinary(event);
      log.append(log.topic(topic), { key: '', value, headers: JSON.stringify(headers), bytes: value.byteLength });
    }
    db.exec('COMMIT');
  } finally {
    db.close();
  }
};

/** Past the library, which keeps what a key waits for. */
const loseMessages = (path: string, topic: string): void => {
  const db = new DatabaseSync(path, { timeout: 5000, enableForeignKeyConstraints: false });
  try {
    db.prepare('DELETE FROM messages WHERE topic_id = (SELECT id FROM topics WHERE name = ?)').run(topic);
  } finally {
    db.close();
  }
};

describeMessageBusConformance('embedded', {
  createPlace: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bindery-message-bus-'));
    const path = join(folder, 'bus.db');
    return {
      open: async () => openEmbeddedMessageBus({ path, pollMs: 5, leaseMs: 2000 }),
      writeKeyless: async (topic, events) => writeKeyless(path, topic, events),
      loseMessages: async (topic) => loseMessages(path, topic),
      dispose: () => rm(folder, { recursive: true }),
    };
  },
});
