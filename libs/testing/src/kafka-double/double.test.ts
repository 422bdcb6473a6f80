import { appendFileSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import kafkajs, { type Consumer, type Kafka, type Producer } from 'kafkajs';
import { KAFKA_ERRORS, KafkaDouble } from './index.ts';

const { logLevel, CompressionTypes } = kafkajs;

let double: KafkaDouble;
let kafka: Kafka;
const open: (Producer | Consumer)[] = [];
let topics = 0;

const clientOf = (broker: KafkaDouble, requestTimeout = 1_000, retries = 3): Kafka =>
  new kafkajs.Kafka({
    brokers: [broker.brokers],
    logLevel: logLevel.NOTHING,
    requestTimeout,
    retry: { retries, initialRetryTime: 10, maxRetryTime: 50 },
  });

const createTopic = async (client = kafka): Promise<string> => {
  topics += 1;
  const name = `t${topics}`;
  const admin = client.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic: name, numPartitions: 1, replicationFactor: 1 }] });
  await admin.disconnect();
  return name;
};

const producer = async (options: { readonly idempotent?: boolean; readonly transactionalId?: string } = {}) => {
  const created = kafka.producer({ allowAutoTopicCreation: false, maxInFlightRequests: 1, ...options });
  open.push(created);
  await created.connect();
  return created;
};

/** The first `count` values that a new group sees. */
const consume = async (
  topic: string,
  count: number,
  client = kafka,
  groupId = `g${Math.random()}`,
): Promise<string[]> => {
  const consumer = client.consumer({ groupId, heartbeatInterval: 30, maxWaitTimeInMs: 20, readUncommitted: false });
  const values: string[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await new Promise<void>((resolve, reject) => {
    consumer.on('consumer.crash', ({ payload }) => reject(payload.error));
    consumer
      .run({
        autoCommitThreshold: 1,
        eachMessage: ({ message }) => {
          values.push(String(message.value));
          if (values.length === count) resolve();
          return Promise.resolve();
        },
      })
      .catch(reject);
  });
  await consumer.disconnect();
  return values;
};

beforeAll(async () => {
  double = await KafkaDouble.start();
  kafka = clientOf(double);
});
afterEach(async () => {
  double.clearFaults();
  await Promise.all(open.splice(0).map((client) => client.disconnect()));
});
afterAll(() => double.dispose());

describe('records', () => {
  test('arrive as they were sent, packed with gzip or not', async () => {
    const topic = await createTopic();
    const sender = await producer();
    await sender.send({ topic, messages: [{ value: 'a' }, { value: 'b' }] });
    await sender.send({
      topic,
      compression: CompressionTypes.GZIP,
      messages: [{ value: 'c'.repeat(5_000) }, { value: 'd' }],
    });
    expect(await consume(topic, 4)).toEqual(['a', 'b', 'c'.repeat(5_000), 'd']);
  });

  test('are found by their time', async () => {
    const topic = await createTopic();
    const sender = await producer();
    await sender.send({
      topic,
      messages: ['1000', '2000', '3000'].map((timestamp) => ({ value: timestamp, timestamp })),
    });
    const admin = kafka.admin();
    await admin.connect();
    expect(await admin.fetchTopicOffsetsByTimestamp(topic, 1_500)).toEqual([{ partition: 0, offset: '1' }]);
    await admin.disconnect();
  });

  test('of a topic that nobody created are refused, and do not create it', async () => {
    const sender = await producer();
    await expect(sender.send({ topic: 'nobody', messages: [{ value: 'x' }] })).rejects.toThrow(
      'does not host this topic',
    );
    expect(double.topics).not.toContain('nobody');
  });
});

describe('a lost acknowledgement', () => {
  test.each([
    ['an idempotent producer writes once', true, 1],
    ['a plain one writes twice', false, 2],
  ])('%s', async (_name, idempotent, records) => {
    const topic = await createTopic();
    const sender = await producer({ idempotent });
    double.inject({ kind: 'lost-answer', on: ['Produce'], times: 1 });
    await sender.send({ topic, messages: [{ value: 'x' }] });
    expect(double.endOf(topic, 0)).toBe(records);
    expect(double.faultsLeft).toBe(0);
  });
});

describe('faults', () => {
  test('out of order sequence is told as such, and nothing is written', async () => {
    const topic = await createTopic();
    const sender = await producer({ idempotent: true });
    double.inject({ kind: 'error', on: ['Produce'], code: KAFKA_ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER });
    await expect(sender.send({ topic, messages: [{ value: 'x' }] })).rejects.toThrow('out of order sequence');
    expect(double.endOf(topic, 0)).toBe(0);
  });

  test.each([
    ['another broker leads', { kind: 'error', on: ['Produce'], times: 1, code: KAFKA_ERRORS.NOT_LEADER_OR_FOLLOWER }],
    ['the connection is cut', { kind: 'disconnect', on: ['Produce'], times: 1 }],
    ['it is slow', { kind: 'slow', on: ['Produce'], times: 1, delayMs: 50 }],
  ] as const)('%s: the producer gets there', async (_name, fault) => {
    const topic = await createTopic();
    const sender = await producer({ idempotent: true });
    double.inject(fault);
    await sender.send({ topic, messages: [{ value: 'x' }] });
    expect(double.endOf(topic, 0)).toBe(1);
    expect(double.faultsLeft).toBe(0);
  });

  test.each([
    ['silent', 0],
    ['silent-after-commit', 1],
  ] as const)('%s: the producer waits in vain, as long as its connection lasts', async (kind, written) => {
    const topic = await createTopic();
    const sender = clientOf(double, 100, 0).producer({ allowAutoTopicCreation: false });
    open.push(sender);
    await sender.connect();
    double.inject({ kind, on: ['Produce'], times: 1 });
    await expect(sender.send({ topic, messages: [{ value: 'x' }] })).rejects.toThrow('timed out');
    expect(double.endOf(topic, 0)).toBe(written);
  });

  test('the coordinator has moved: the consumer finds it again', async () => {
    const topic = await createTopic();
    const sender = await producer();
    await sender.send({ topic, messages: [{ value: 'x' }] });
    double.inject({ kind: 'error', on: ['JoinGroup'], times: 1, code: KAFKA_ERRORS.NOT_COORDINATOR });
    expect(await consume(topic, 1)).toEqual(['x']);
    expect(double.faultsLeft).toBe(0);
  });
});

describe('transactions', () => {
  test('what is undone is never seen, what is committed is', async () => {
    const topic = await createTopic();
    const sender = await producer({ idempotent: true, transactionalId: 'undone' });
    const first = await sender.transaction();
    await first.send({ topic, messages: [{ value: 'undone' }] });
    await first.abort();
    const second = await sender.transaction();
    await second.send({ topic, messages: [{ value: 'done' }] });
    await second.commit();
    expect(await consume(topic, 1)).toEqual(['done']);
    expect(double.endOf(topic, 0)).toBe(4);
  });

  test('the newest producer of an id fences the one before, whose open transaction is undone', async () => {
    const topic = await createTopic();
    const old = await producer({ idempotent: true, transactionalId: 'fenced' });
    const left = await old.transaction();
    await left.send({ topic, messages: [{ value: 'left open' }] });
    const fresh = await producer({ idempotent: true, transactionalId: 'fenced' });
    const own = await fresh.transaction();
    await expect(left.send({ topic, messages: [{ value: 'late' }] })).rejects.toThrow('old epoch');
    await expect(left.commit()).rejects.toThrow('old epoch');
    await own.send({ topic, messages: [{ value: 'fresh' }] });
    await own.commit();
    expect(await consume(topic, 1)).toEqual(['fresh']);
  });

  test('one that stays open too long is undone, and its producer fenced', async () => {
    const topic = await createTopic();
    const slow = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      transactionalId: 'slow',
      transactionTimeout: 50,
    });
    open.push(slow);
    await slow.connect();
    const transaction = await slow.transaction();
    await transaction.send({ topic, messages: [{ value: 'x' }] });
    while (double.endOf(topic, 0) < 2) await new Promise((resolve) => setImmediate(resolve));
    await expect(transaction.commit()).rejects.toThrow('old epoch');
  });
});

describe('a restart', () => {
  test('keeps records, offsets, epochs and sequences; a torn end of the journal is cut off', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'kafka-double-test-'));
    const own = await KafkaDouble.start({ directory });
    const client = clientOf(own, 1_000, 20);
    const topic = await createTopic(client);
    // A producer for each: the library's does not find its coordinator again after a restart.
    const send = async (value: string): Promise<void> => {
      const sender = client.producer({ idempotent: true, maxInFlightRequests: 1, transactionalId: 'kept' });
      await sender.connect();
      const transaction = await sender.transaction();
      await transaction.send({ topic, messages: [{ value }] });
      await transaction.commit();
      await sender.disconnect();
    };
    await send('a');
    expect(await consume(topic, 1, client, 'kept')).toEqual(['a']);
    await own.stop();
    appendFileSync(join(directory, 'journal'), Buffer.from([0, 0, 1, 0, 7]));
    await own.restart();
    await send('b');
    expect(own.endOf(topic, 0)).toBe(4);
    expect(await consume(topic, 1, client, 'kept')).toEqual(['b']);
    await own.stop();
    await rm(directory, { recursive: true });
  });
});

describe('the wire', () => {
  /** Sends a request without its length; what comes back, or nothing when the connection ends. */
  const ask = (request: Buffer): Promise<Buffer | undefined> =>
    new Promise((resolve) => {
      const socket = connect(double.port, '127.0.0.1');
      const length = Buffer.alloc(4);
      length.writeUInt32BE(request.length);
      socket.on('error', () => resolve(undefined));
      socket.on('close', () => resolve(undefined));
      socket.on('data', (bytes) => {
        resolve(bytes);
        socket.destroy();
      });
      socket.write(Buffer.concat([length, request]));
    });
  const header = (key: number, version: number): Buffer => Buffer.from([0, key, 0, version, 0, 0, 0, 9, 0, 1, 0x63]);

  test('a newer way to ask for versions is answered in the oldest form, with the error that says so', async () => {
    const answer = await ask(header(18, 3));
    expect(answer?.readInt32BE(4)).toBe(9);
    expect(answer?.readInt16BE(8)).toBe(KAFKA_ERRORS.UNSUPPORTED_VERSION);
    expect(answer?.readInt32BE(10)).toBeGreaterThan(10);
  });

  test('what it does not speak, or cannot be read, ends the connection', async () => {
    expect(await ask(header(0, 2))).toBeUndefined();
    expect(await ask(header(77, 0))).toBeUndefined();
    expect(await ask(header(12, 3))).toBeUndefined();
  });
});
