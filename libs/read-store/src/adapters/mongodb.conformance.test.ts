import { randomUUID } from 'node:crypto';
import { describeReadStoreConformance } from '@bindery/testing';
import { describe } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { openMongoReadStore } from './mongodb.ts';

const url = process.env.MONGODB_URL ?? '';

/** The server's own word for being FerretDB, which speaks the protocol and does not keep its promise of atomic updates. */
const isFerret = async (): Promise<boolean> => {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 3000 });
  try {
    const told = await client.db('admin').command({ buildInfo: 1 });
    return Object.keys(told).some((name) => name.toLowerCase().startsWith('ferretdb'));
  } finally {
    await client.close();
  }
};
const notAtomic = url !== '' && (await isFerret()) ? 'the updates of FerretDB are not atomic' : undefined;

const suite = (): void =>
  describeReadStoreConformance('mongodb', {
    // Servers that stand in for the real one look at every document for each write.
    manyDocuments: process.env.LONG_TESTS === '1' ? 100_000 : 6000,
    ...(notAtomic !== undefined && { notAtomic }),
    createPlace: async () => {
      const database = `bindery_test_${randomUUID().replaceAll('-', '')}`;
      return {
        open: () => openMongoReadStore({ url, database, timeoutMs: 20_000, indexGraceMs: 0 }),
        dispose: async () => {
          const client = new MongoClient(url, { serverSelectionTimeoutMS: 3000 });
          await client.db(database).dropDatabase();
          await client.close();
        },
      };
    },
  });

const withServer = url === '' ? describe.skip : describe;
withServer(url === '' ? 'SKIPPED: MongoDB (MONGODB_URL is not set)' : 'MongoDB', suite);
