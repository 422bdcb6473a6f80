import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Backend, type KafkaCluster, startKafkaCluster } from '@bindery/backends';
import { Distinct, insist, loadKeys, numbered, publishOnce, upTo } from '@bindery/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import kafkajs from 'kafkajs';
import { deadLetterTopic, type MessageBus } from '../port.ts';
import { parkedKeysTopic } from './kafka/parked-keys.ts';
import { type KafkaProblem, openKafkaMessageBus } from './kafka.ts';

/** A broker that is gone is missed after 9 s; then leaders move, clients follow, and groups are joined anew. */
const PATIENCE_MS = 40_000;
/** Until a broker that is back has what the others have: as in {@link LONGEST_MS}, the machine's time, not ours. */
const SYNC_MS = 120_000;
const LONGEST_MS = 600_000;

/** What the clients had to say lately; told when something does not happen. */
const troubles: string[] = [];

const within = async (what: string, condition: () => boolean | Promise<boolean>, ms = PATIENCE_MS): Promise<void> => {
  const end = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${ms} ms: ${what}\n${troubles.slice(-20).join('\n')}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

/** Where Kafka keeps the positions of a group: the leader of that partition coordinates it. */
const offsetsPartition = (group: string, partitions: number): number => {
  let hash = 0;
  for (const character of group) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) | 0;
  return (hash & 0x7fff_ffff) % partitions;
};

const suite = (): void => {
  let folder: string;
  let cluster: KafkaCluster;
  let topic = '';
  let round = 0;
  const opened: MessageBus[] = [];

  const open = (changes: { readonly replicationFactor?: number } = {}): MessageBus => {
    const brokers = cluster.url.split(',');
    // The times of groups are those of the product.
    const quick = { heartbeatMs: 200, commitEveryMs: 20, requestTimeoutMs: 5000, publishTimeoutMs: 5000 };
    const onProblem = (problem: KafkaProblem): void => {
      const text = 'error' in problem ? String(problem.error) : '';
      troubles.push(`${new Date().toISOString()} ${problem.kind} ${text}`);
      if (troubles.length > 1000) troubles.splice(0, 500);
    };
    const bus = openKafkaMessageBus({ brokers, ...quick, ...changes, onProblem });
    opened.push(bus);
    return bus;
  };
  const asAdministrator = async <T>(work: (admin: ReturnType<kafkajs.Kafka['admin']>) => Promise<T>): Promise<T> => {
    const brokers = cluster.url.split(',');
    const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      return await work(admin);
    } finally {
      await admin.disconnect();
    }
  };
  const partitionsOf = (name: string) =>
    asAdministrator(async (admin) => (await admin.fetchTopicMetadata({ topics: [name] })).topics[0]?.partitions ?? []);
  const brokerOf = (id: number | undefined): Backend => {
    const broker = cluster.brokers[(id ?? 0) - 1];
    if (broker === undefined) throw new Error(`there is no broker ${id}`);
    return broker;
  };
  const leaderOf = async (name: string, partition: number): Promise<Backend> =>
    brokerOf((await partitionsOf(name)).find(({ partitionId }) => partitionId === partition)?.leader);
  const coordinatorOf = async (group: string): Promise<Backend> => {
    const { length } = await partitionsOf('__consumer_offsets');
    return await leaderOf('__consumer_offsets', offsetsPartition(group, length));
  };

  /** As an operator waits before the next broker: with one copy less than this a write that needs two may be refused. */
  const inSync = async (): Promise<void> => {
    const complete = async (): Promise<boolean> => {
      const { topics } = await asAdministrator((admin) => admin.fetchTopicMetadata());
      return topics.every(({ partitions }) => partitions.every(({ isr, replicas }) => isr.length === replicas.length));
    };
    await within('every copy is in sync', complete, SYNC_MS);
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bindery-kafka-cluster-'));
    cluster = await startKafkaCluster({ folder, brokers: 3 });
  }, LONGEST_MS);
  beforeEach(() => {
    round += 1;
    topic = `bindery.cluster-${round}.v1`;
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((bus) => bus.close()));
    await cluster.start();
    await inSync();
  }, LONGEST_MS);
  afterAll(async () => {
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  }, LONGEST_MS);

  test('topics have three copies and take a write when two have it, whichever kind they are', async () => {
    const bus = open();
    await bus.ensureTopics([topic]);
    const consumer = await bus.consume({ group: topic, topics: [topic], handle: async () => ({ kind: 'done' }) });
    await consumer.stop();
    for (const name of [topic, deadLetterTopic(topic), parkedKeysTopic(topic)]) {
      for (const { replicas } of await partitionsOf(name)) expect(replicas).toHaveLength(3);
      const { resources } = await asAdministrator((admin) =>
        admin.describeConfigs({
          includeSynonyms: false,
          resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name, configNames: ['min.insync.replicas'] }],
        }),
      );
      expect(resources[0]?.configEntries[0]?.configValue).toBe('2');
    }
  });

  test('a number of copies that is asked for is kept to, or refused', async () => {
    await open({ replicationFactor: 2 }).ensureTopics([topic]);
    for (const { replicas } of await partitionsOf(topic)) expect(replicas).toHaveLength(2);
    await expect(open({ replicationFactor: 4 }).ensureTopics([`${topic}-more`])).rejects.toMatchObject({
      reason: 'replication',
    });
  });

  /** Two members, one that publishes as it comes and one that publishes once, for as long as `breaking` lasts. */
  const underLoad = async (breaking: (flowing: () => Promise<void>) => Promise<void>): Promise<void> => {
    const [bus, other] = [open(), open()];
    const once = `${topic}-once`;
    await bus.ensureTopics([topic, once]);
    const [plain, exact] = [new Distinct(), new Distinct()];
    for (const member of [bus, other]) {
      await member.consume({ group: `g-${topic}`, topics: [topic], handle: plain.take });
      await member.consume({ group: `g-${once}`, topics: [once], handle: exact.take });
    }
    let over = false;
    const publishing = (async () => {
      let sent = 0;
      for (; !over; sent += 1) {
        const batch = loadKeys.flatMap((key) => numbered(key, 1, sent));
        await insist(() => bus.publish(topic, batch));
      }
      return sent;
    })();
    const publishingOnce = publishOnce(other, once, `p-${topic}`, () => over);
    const flowing = async (): Promise<void> => {
      const [before, beforeOnce] = [plain.size, exact.size];
      await within('messages flow', () => plain.size > before + 100 && exact.size > beforeOnce + 100);
    };
    await flowing();
    try {
      await breaking(flowing);
      await flowing();
    } finally {
      over = true;
    }
    const [sent, sentOnce] = await Promise.all([publishing, publishingOnce]);
    await within('all of it', () => plain.size >= sent * loadKeys.length && exact.size >= sentOnce * loadKeys.length);
    for (const key of loadKeys) {
      expect(plain.seen.get(key)).toEqual(upTo(sent));
      expect(exact.seen.get(key)).toEqual(upTo(sentOnce));
    }
    const written = await other.last(once, 10_000);
    expect(new Set(written.map(({ event: { id } }) => id)).size).toBe(written.length);
  };

  test(
    'a leader and a coordinator that are killed: others take over, nothing is lost, doubled or out of order',
    () =>
      underLoad(async (flowing) => {
        const leader = await leaderOf(topic, 0);
        await leader.kill();
        await flowing(); // without it
        await leader.start();
        await inSync();
        const coordinator = await coordinatorOf(`g-${topic}`);
        await coordinator.kill();
        await flowing();
        await coordinator.start();
      }),
    LONGEST_MS,
  );

  test(
    'all brokers are restarted one after the other: nothing is lost, doubled or out of order',
    () =>
      underLoad(async (flowing) => {
        for (const broker of cluster.brokers) {
          await broker.restart();
          await flowing();
          await inSync();
        }
      }),
    LONGEST_MS,
  );

  test(
    'two of three are killed: publishing is refused in bounded time, and goes on when they are back',
    async () => {
      const bus = open();
      await bus.ensureTopics([topic]);
      const distinct = new Distinct();
      await bus.consume({ group: `g-${topic}`, topics: [topic], handle: distinct.take });
      const batch = (n: number) => loadKeys.flatMap((key) => numbered(key, 1, n));
      await bus.publish(topic, batch(0));
      const [, second, third] = cluster.brokers;
      await Promise.all([second?.kill(), third?.kill()]);
      const next = batch(1);
      const begun = performance.now();
      await expect(bus.publish(topic, next)).rejects.toMatchObject({ code: 'message_bus.unavailable' });
      expect(performance.now() - begun).toBeLessThan(15_000);
      const waiting = insist(() => bus.publish(topic, next));
      await Promise.all([second?.start(), third?.start()]);
      expect(await waiting).toBeGreaterThan(0);
      await bus.publish(topic, batch(2));
      await within('all of it', () => distinct.size >= 3 * loadKeys.length);
      for (const key of loadKeys) expect(distinct.seen.get(key)).toEqual(upTo(3));
    },
    LONGEST_MS,
  );
};

const withBroker = (process.env.KAFKA_BROKERS ?? '') === '' ? describe.skip : describe;
withBroker(
  (process.env.KAFKA_BROKERS ?? '') === '' ? 'SKIPPED: Kafka (KAFKA_BROKERS is not set)' : 'Kafka, three brokers',
  suite,
);
