import type { BlobStore } from '@bindery/blob-store';
import { openS3BlobStore } from '@bindery/blob-store/s3';
import type { Cache } from '@bindery/cache';
import { openRedisCache } from '@bindery/cache/redis';
import type { RuntimeTuning, ServicePorts } from '@bindery/event-sourcing';
import { openEventStoreDb } from '@bindery/event-store/eventstoredb';
import type { ReadStore } from '@bindery/read-store';
import { openMongoReadStore } from '@bindery/read-store/mongodb';
import { type ConfigOf, type keySettings, masterKeysOf, openInstanceKey } from '@bindery/service-kit';
import {
  observedBlobStore,
  observedCache,
  observedEventStore,
  observedMessageBus,
  observedReadStore,
} from '@bindery/telemetry/ports';
import { openKafka } from './open-kafka.ts';
import type { Starting } from './run-process.ts';
import type { blobSettings, gatewayProcessSettings, serviceProcessSettings } from './settings.ts';
import { openStoreLocks } from './store-locks.ts';

type Common = Pick<
  ConfigOf<typeof gatewayProcessSettings>,
  'MONGODB_URL' | 'MONGODB_DATABASE_PREFIX' | 'REDIS_URL' | 'REDIS_PREFIX'
>;
type ServiceSettings = ConfigOf<typeof serviceProcessSettings>;
type Opening = Pick<Starting<never>, 'telemetry' | 'clock' | 'keep'>;

/** Rhythms of services with several replicas: those who only watch the projections see soon how far they are. */
export const tuningOf = ({ LEASE_MS }: Pick<ServiceSettings, 'LEASE_MS'>): Partial<RuntimeTuning> => ({
  leaseMs: LEASE_MS,
  checkpointMs: 100,
  generationPollMs: 250,
});

/** The cache; while its server is away everybody goes on without. */
export const openCache = async (settings: Common, { telemetry, keep }: Opening): Promise<Cache> => {
  let reached = false;
  const cache = await openRedisCache({
    ...{ url: settings.REDIS_URL, prefix: settings.REDIS_PREFIX },
    onChange: (available, reason) => {
      reached = true;
      if (available) telemetry.logger.info('the cache is there');
      else telemetry.logger.warn('the cache is away', { reason });
    },
  });
  if (!reached) telemetry.logger.warn('the cache is away', { reason: 'it did not answer at the start' });
  return observedCache(keep('cache', cache), telemetry, 'redis');
};

/** Name of the database of the keys of users and of the instance. */
export const keysDatabase = 'keys';

const databaseOf = ({ MONGODB_URL: url, MONGODB_DATABASE_PREFIX: prefix }: Common, name: string) => ({
  ...{ url, database: `${prefix}_${name}`, applicationName: `bindery-${name}` },
});

/**
 * A database of read models.
 * @param durable for what no event holds
 */
export const openDatabase = async (
  settings: Common,
  name: string,
  { telemetry, keep }: Opening,
  durable = false,
): Promise<ReadStore> => {
  const store = await openMongoReadStore({ ...databaseOf(settings, name), durable });
  return observedReadStore(keep(`database ${name}`, store), telemetry, 'mongodb');
};

/**
 * The key that everything of the instance is derived from, from the database of keys, which is not kept open.
 * @throws WrongMasterKey, KeysMissing
 */
export const readInstanceKey = async (
  settings: Pick<ServiceSettings, 'MASTER_KEY' | keyof typeof keySettings | keyof Common>,
  { eventStore, telemetry }: Pick<ServicePorts, 'eventStore' | 'telemetry'>,
): Promise<Uint8Array> => {
  const store = await openMongoReadStore({ ...databaseOf(settings, keysDatabase), durable: true });
  try {
    return await openInstanceKey(store, masterKeysOf(settings), eventStore, telemetry.logger);
  } finally {
    await store.close();
  }
};

/** What a service runs on. */
export const openPorts = async (
  service: string,
  settings: ServiceSettings,
  opening: Opening,
): Promise<ServicePorts> => {
  const { telemetry, clock, keep } = opening;
  const { logger, metrics } = telemetry;
  const drops = metrics.counter('bindery_event_store_subscription_drops_total', 'Subscriptions that were made again.');
  const now = (): number => clock.now().getTime();
  const readStore = await openDatabase(settings, service, opening);
  const eventStore = openEventStoreDb({
    connectionString: settings.EVENTSTORE_URL,
    onSubscriptionDropped: (reason) => {
      drops.add(1);
      logger.warn('a subscription was dropped', { reason });
    },
  });
  keep('events', eventStore);
  const bus = await openKafka(service, settings, opening);
  return {
    readStore,
    eventStore: observedEventStore(eventStore, telemetry, 'eventstoredb'),
    bus: observedMessageBus(bus, telemetry, 'kafka', now),
    cache: await openCache(settings, opening),
    locks: await openStoreLocks(readStore),
    telemetry,
    clock,
  };
};

/** Bytes of files. */
export const openBlobs = async (
  settings: ConfigOf<typeof blobSettings>,
  { telemetry, keep }: Opening,
): Promise<BlobStore> => {
  const blobs = await openS3BlobStore({
    endpoint: settings.S3_ENDPOINT,
    region: settings.S3_REGION,
    bucket: settings.S3_BUCKET,
    credentials: { accessKeyId: settings.S3_ACCESS_KEY_ID, secretAccessKey: settings.S3_SECRET_ACCESS_KEY },
    pathStyle: settings.S3_PATH_STYLE,
    onProblem: (problem) => telemetry.logger.warn('blobs', { problem }),
  });
  return observedBlobStore(keep('blobs', blobs), telemetry, 's3');
};
