import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeReadStoreConformance } from '@bindery/testing';
import type { ReadStore } from '../port.ts';
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

/** With documents in memory a file has one handle in the whole system, so whoever opens it a second time gets the same. */
describeReadStoreConformance('sqlite with documents in memory', {
  manyDocuments: 10_000,
  createPlace: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bindery-read-store-'));
    let users = 0;
    let store: ReadStore | undefined;
    return {
      open: async () => {
        users += 1;
        store ??= await openSqliteReadStore({ path: join(folder, 'read-store.db'), sole: true });
        const opened = store;
        let open = true;
        return {
          collection: (...given: Parameters<ReadStore['collection']>) => opened.collection(...given),
          batch: (writes) => opened.batch(writes),
          drop: (...given) => opened.drop(...given),
          close: async () => {
            if (!open) return;
            open = false;
            users -= 1;
            if (users > 0) return;
            store = undefined;
            await opened.close();
          },
        } as ReadStore;
      },
      dispose: () => rm(folder, { recursive: true }),
    };
  },
});
