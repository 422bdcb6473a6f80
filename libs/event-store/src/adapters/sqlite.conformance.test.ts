import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeEventStoreConformance } from '@bindery/testing';
import { openSqliteEventStore } from './sqlite.ts';

describeEventStoreConformance('SQLite', {
  createPlace: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bindery-event-store-'));
    return {
      open: async () => openSqliteEventStore({ path: join(folder, 'events.db'), pollMs: 10 }),
      dispose: () => rm(folder, { recursive: true }),
    };
  },
});
