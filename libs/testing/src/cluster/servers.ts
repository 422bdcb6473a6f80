import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Backend, openBackend, startBackend, stateFolder } from '@bindery/backends';
import { type Admin, Kafka, logLevel } from 'kafkajs';

/** Longer than a session of a consumer, in ms. */
const groupsWithinMs = 60_000;

/** Servers for one instance. */
export interface Servers {
  /** Addresses, as settings of the processes. */
  readonly environment: Readonly<Record<string, string>>;
  /** The instance's own: two instances would be one in a log of events that they share. */
  readonly eventStore: Backend;
  readonly kafka: Backend;
  readonly mongodb: Backend;
  readonly redis: Backend;
  readonly s3: Backend;
  /** Stops what is this instance's own. */
  release(): Promise<void>;
}

/**
 * Takes the servers of `npm run backends:up`, starting what does not run, with a log of events of its own and no topics.
 * Instances follow one another: they share the topics of Kafka.
 * @param folder another one is another set of servers, which whoever gave it stops and removes
 */
export const openServers = async (folder = stateFolder()): Promise<Servers> => {
  const [kafka, mongodb, redis, s3] = await Promise.all([
    startBackend('kafka', { folder }),
    startBackend('mongodb', { folder }),
    startBackend('redis', { folder }),
    startBackend('s3', { folder }),
  ]);
  const own = join(folder, 'instance');
  // Of an instance before that was not ended.
  await (await openBackend('eventstore', { folder: own })).stop();
  await rm(own, { recursive: true, force: true });
  const eventStore = await startBackend('eventstore', { folder: own });
  await removeTopics(kafka.url);
  const all = [kafka, mongodb, redis, s3, eventStore];
  return {
    environment: Object.assign({}, ...all.map(({ environment }) => environment)),
    ...{ eventStore, kafka, mongodb, redis, s3 },
    async release() {
      await eventStore.stop();
      await rm(own, { recursive: true, force: true });
    },
  };
};

/** Members that were killed count as members until their session has ended: it is tried until then. */
const removeGroups = async (admin: Admin): Promise<void> => {
  const until = performance.now() + groupsWithinMs;
  for (;;) {
    const { groups } = await admin.listGroups();
    if (groups.length === 0) return;
    try {
      await admin.deleteGroups(groups.map(({ groupId }) => groupId));
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await wait(500);
    }
  }
};

/** Topics and groups that an instance before has left. */
const removeTopics = async (brokers: string): Promise<void> => {
  const admin = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    await removeGroups(admin);
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith('bindery.'));
    if (topics.length > 0) await admin.deleteTopics({ topics });
  } finally {
    await admin.disconnect();
  }
};
