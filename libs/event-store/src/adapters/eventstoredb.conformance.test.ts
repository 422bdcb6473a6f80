import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeEventStoreConformance } from '@bindery/testing';
import { EventStoreDbDouble } from '@bindery/testing/eventstoredb-double';
import { afterAll, test } from '@jest/globals';
import { openEventStoreDb } from './eventstoredb.ts';

const url = process.env.EVENTSTORE_URL;
const sizes = process.env.LONG_TESTS ? {} : { manyEvents: 1000, contendedRounds: 3 };

/** The suite is about what is answered, not how soon; a busy machine shall not fail it. */
const patient = { callTimeoutMs: 15_000, appendTimeoutMs: 25_000 };

/** One double for the whole suite: what the suite shares with a real server it can share with a double. */
let folder: string | undefined;
let double: EventStoreDbDouble | undefined;

const started = async (): Promise<EventStoreDbDouble> => {
  folder ??= await mkdtemp(join(tmpdir(), 'bindery-eventstoredb-'));
  double ??= await EventStoreDbDouble.start({ directory: folder });
  return double;
};

afterAll(async () => {
  await double?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

if (url === undefined && !process.env.LONG_TESTS) {
  const skipped = test.skip;
  skipped('EventStoreDB: this suite takes half a minute; EVENTSTORE_URL or LONG_TESTS=1 runs it', () => undefined);
} else if (url === undefined) {
  describeEventStoreConformance('EventStoreDB (protocol double)', {
    capabilities: { uniqueEventIds: false },
    ...sizes,
    liveMs: 15_000,
    createPlace: async () => {
      const { connectionString, port } = await started();
      return {
        open: async () => openEventStoreDb({ connectionString, probeMs: 50, ...patient }),
        restart: async () => {
          await double?.stop();
          double = await EventStoreDbDouble.start({ directory: folder ?? '', port });
        },
        dispose: async () => undefined,
      };
    },
  });
} else {
  describeEventStoreConformance('EventStoreDB at EVENTSTORE_URL', {
    capabilities: { uniqueEventIds: false },
    ...sizes,
    liveMs: 15_000,
    createPlace: async () => ({
      open: async () => openEventStoreDb({ connectionString: url, probeMs: 100 }),
      dispose: async () => undefined,
    }),
  });
}
