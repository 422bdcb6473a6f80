import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Backend, startBackend } from '@bindery/backends';
import { describeMessageBusFaults } from '@bindery/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import kafkajs from 'kafkajs';
import { deadLetterTopic, serviceTopic } from '../port.ts';
import { sampleEvent } from '../testing.ts';
import { parkedKeysTopic } from './kafka/parked-keys.ts';
import { type KafkaMessageBus, type KafkaProblem, openKafkaMessageBus } from './kafka.ts';

const short = { connectTimeoutMs: 500, requestTimeoutMs: 800, publishTimeoutMs: 1000 };
const event = sampleEvent('a');

/** Every call is refused as unavailable, within the budget. */
const expectRefusals = async (bus: KafkaMessageBus, budgetMs: number): Promise<void> => {
  const start = performance.now();
  const handle = async () => ({ kind: 'done' as const });
  const tail = bus.tail(['t'], { from: 'beginning', follow: false, signal: new AbortController().signal });
  const results = await Promise.allSettled([
    bus.publish('t', [{ key: 'a', event }]),
    bus.ensureTopics(['t']),
    bus.openPublisher('p'),
    bus.consume({ group: 'g', topics: ['t'], handle }),
    bus.last('t', 1),
    tail[Symbol.asyncIterator]().next(),
  ]);
  for (const result of results) {
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'message_bus.unavailable' } });
  }
  expect(performance.now() - start).toBeLessThan(budgetMs);
  await bus.close();
};

describe('without a broker', () => {
  test('a port where nobody listens is reported within the budget', () =>
    expectRefusals(openKafkaMessageBus({ brokers: ['127.0.0.1:1'], ...short }), 4000));

  test('a broker that takes connections and is silent is reported within the budget', async () => {
    const server = createServer(() => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await expectRefusals(openKafkaMessageBus({ brokers: [`127.0.0.1:${port}`], ...short }), 4000);
    server.close();
  });
});

const suite = (): void => {
  let folder: string;
  let broker: Backend;
  const problems: KafkaProblem[] = [];
  const open = (): KafkaMessageBus =>
    openKafkaMessageBus({
      brokers: [broker.url],
      ...{ heartbeatMs: 200, commitEveryMs: 20, requestTimeoutMs: 5000, publishTimeoutMs: 5000 },
      onProblem: (problem) => problems.push(problem),
    });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bindery-kafka-'));
    broker = await startBackend('kafka', { folder });
  }, 180_000);
  afterAll(async () => {
    await broker.stop();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  test('an empty broker has the topics of the catalogue afterwards, and no others', async () => {
    const bus = open();
    const topics = ['identity', 'content'].map(serviceTopic);
    await bus.ensureTopics(topics);
    const consumer = await bus.consume({ group: 'content', topics, handle: async () => ({ kind: 'done' }) });
    await bus.publish(serviceTopic('content'), [{ key: 'a', event }]);
    await expect(bus.publish('bindery.unheard-of.v1', [{ key: 'a', event }])).rejects.toMatchObject({
      code: 'message_bus.unknown_topic',
    });
    const admin = new kafkajs.Kafka({ brokers: [broker.url], logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    const found = (await admin.listTopics()).filter((name) => !name.startsWith('__')).sort();
    const { topics: described } = await admin.fetchTopicMetadata({ topics });
    await admin.disconnect();
    expect(found).toEqual([...topics, deadLetterTopic('content'), parkedKeysTopic('content')].sort());
    expect(described.map(({ partitions }) => partitions.length)).toEqual([6, 6]);
    await consumer.stop();
    await bus.close();
  });

  test('a member whose broker is away says so, and works again when it is back', async () => {
    const bus = open();
    const topic = serviceTopic('content');
    await bus.consume({ group: 'watched', topics: [topic], handle: async () => ({ kind: 'done' }) });
    const state = (): string | undefined => bus.consumers()[0]?.state;
    const until = async (wanted: string): Promise<void> => {
      while (state() !== wanted) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    expect(state()).toBe('working');
    await broker.kill();
    await until('down');
    expect(problems.some(({ kind }) => kind === 'consumer-crashed')).toBe(true);
    await broker.restart();
    await until('working');
    await bus.close();
  }, 90_000);

  describeMessageBusFaults('Kafka', {
    broker: () => ({
      open: async () => open(),
      start: () => broker.start(),
      kill: () => broker.kill(),
      restart: () => broker.restart(),
      pause: async () => broker.pause(),
      resume: async () => broker.resume(),
    }),
    patienceMs: 30_000,
    frozenMs: 20_000,
    queued: 10_000,
    kills: 3,
  });
};

const withBroker = (process.env.KAFKA_BROKERS ?? '') === '' ? describe.skip : describe;
withBroker((process.env.KAFKA_BROKERS ?? '') === '' ? 'SKIPPED: Kafka (KAFKA_BROKERS is not set)' : 'Kafka', suite);
