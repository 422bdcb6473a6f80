import { randomUUID } from 'node:crypto';
import { describeReadStoreConformance } from '@bindery/testing';
import { describe } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { openMongoReadStore } from './mongodb.ts';

const url = process.env.MONGODB_URL ?? '';

const suite = (): void =>
  describeReadStoreConformance('mongodb', {
    // Servers that stand in for the real one look at every document for each write.
    manyDocuments: process.env.LONG_TESTS === '1' ? 100_000 : 6000,
    createPlace: async () => {
      const database = `bindery_test_${randomUUID().replaceAll('-', '')}`;
      return {
        open: () => openMongoReadStore({ url, database, timeoutMs: 20_000 }),
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
