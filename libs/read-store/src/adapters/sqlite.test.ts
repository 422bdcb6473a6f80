import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeReadStoreConformance } from '@bindery/testing';
import { openSqliteReadStore } from './sqlite.ts';

describeReadStoreConformance('sqlite', {
  createPlace: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bindery-read-store-'));
    return {
      open: () => openSqliteReadStore({ path: join(folder, 'read-store.db') }),
      dispose: () => rm(folder, { recursive: true }),
    };
  },
});
