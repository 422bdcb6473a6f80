import { loseMessagesOfKafka } from '@bindery/testing';
import { KafkaDouble } from '@bindery/testing/kafka-double';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import kafkajs, { type Message } from 'kafkajs';
import { toBinary } from '../cloud-events.ts';
import { DEAD_LETTER_HEADERS } from '../dead-letters.ts';
import { type BusMessage, type ConsumerOptions, deadLetterTopic, type MessageBus } from '../port.ts';
import { sampleEvent } from '../testing.ts';
import { parkedKeysTopic } from './kafka/parked-keys.ts';
import { type KafkaProblem, openKafkaMessageBus } from './kafka.ts';

const topic = 'bindery.parked.v1';
const group = 'g';

let double: KafkaDouble;
let buses: MessageBus[];
let problems: KafkaProblem[];
let seen: string[];

const open = (): MessageBus => {
  const bus = openKafkaMessageBus({
    brokers: double.brokers.split(','),
    partitions: 1,
    heartbeatMs: 40,
    commitEveryMs: 10,
    fetchWaitMs: 20,
    requestTimeoutMs: 3000,
    onProblem: (problem) => problems.push(problem),
  });
  buses.push(bus);
  return bus;
};

beforeEach(async () => {
  double = await KafkaDouble.start({ brokers: 2 });
  [buses, problems, seen] = [[], [], []];
  await open().ensureTopics([topic, deadLetterTopic(group), parkedKeysTopic(group)]);
  // Dead letters are the second broker's, everything else the first one's.
  double.lead(deadLetterTopic(group), 0, 2);
});
afterEach(async () => {
  await Promise.all(buses.map((bus) => bus.close()));
  await double.dispose();
});

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
};

const consume = (bus: MessageBus, handle: ConsumerOptions['handle'] = async () => ({ kind: 'done' })) =>
  bus.consume({
    group,
    topics: [topic],
    backoffMs: 5,
    handle: async (message, signal) => {
      const handled = await handle(message, signal);
      if (handled.kind === 'done') seen.push(message.event.id);
      return handled;
    },
  });

const write = async (to: string, messages: readonly Message[]): Promise<void> => {
  const settings = { brokers: double.brokers.split(','), logLevel: kafkajs.logLevel.NOTHING };
  const producer = new kafkajs.Kafka(settings).producer({ allowAutoTopicCreation: false });
  await producer.connect();
  try {
    for (const message of messages) await producer.send({ topic: to, messages: [{ partition: 0, ...message }] });
  } finally {
    await producer.disconnect();
  }
};

/** A dead letter as it is stored, of a message at an offset of the first partition. */
const letter = (key: string, offset: number, bytes = 0): Message => {
  const { value, headers } = toBinary(sampleEvent(`${key}-${offset}`, { filling: 'x'.repeat(bytes) }));
  const own = {
    [DEAD_LETTER_HEADERS.topic]: topic,
    [DEAD_LETTER_HEADERS.partition]: '0',
    [DEAD_LETTER_HEADERS.offset]: String(offset),
    [DEAD_LETTER_HEADERS.reason]: 'poison',
    [DEAD_LETTER_HEADERS.attempts]: '1',
  };
  return { key, value, headers: { ...headers, ...own } };
};

/** The entry of a parked key as it is stored. */
const entry = (key: string, messages: number, last: number): Message => {
  const state = {
    topic,
    key,
    partition: 0,
    reason: 'poison',
    deadPartition: 0,
    from: '0',
    last: String(last),
    messages,
  };
  return { key: JSON.stringify(['parked', topic, key]), value: JSON.stringify(state) };
};

test('messages without a key that an earlier release has parked under the empty key are seen, given up and released', async () => {
  const bus = open();
  await write(deadLetterTopic(group), [letter('', 0), letter('', 3), letter('', 4)]);
  await write(parkedKeysTopic(group), [entry('', 3, 4)]);
  const consumer = await consume(bus);
  const { letters } = await consumer.letters(topic, '', { limit: 10 });
  expect(letters.map(({ offset }) => offset)).toEqual(['0', '3', '4']);
  expect(await consumer.discard(topic, '', '0')).toBe(true);
  expect(seen).toEqual(['-3', '-4']);
  expect(await consumer.parked({ fresh: true })).toEqual([]);
});

test('a release whose dead letters are missing ends, is told, and holds up nothing else; what was there is handled once', async () => {
  const bus = open();
  await write(deadLetterTopic(group), [letter('gone', 0)]);
  await write(parkedKeysTopic(group), [entry('gone', 2, 7)]);
  const consumer = await consume(bus);
  await consumer.release(topic, 'gone');
  expect(await consumer.parked({ fresh: true })).toMatchObject([{ key: 'gone', messages: 1, releasing: false }]);
  expect(problems).toContainEqual(
    expect.objectContaining({ kind: 'consumer', group, error: expect.objectContaining({ missing: true }) }),
  );
  await bus.publish(topic, [{ key: 'other', event: sampleEvent('other') }]);
  await until(() => seen.includes('other'));
  expect(await consumer.discard(topic, 'gone', '7')).toBe(false);
  expect(seen).toEqual(['gone-0', 'other']);
});

test('where the first dead letters of a key are gone those behind them are seen and released, then the key is forgotten', async () => {
  const bus = open();
  await write(deadLetterTopic(group), [letter('a', 0), letter('a', 1), letter('a', 2)]);
  await write(parkedKeysTopic(group), [entry('a', 3, 2)]);
  await loseMessagesOfKafka({ brokers: double.brokers.split(',') })(deadLetterTopic(group), '2');
  const consumer = await consume(bus);
  const { letters } = await consumer.letters(topic, 'a', { limit: 10 });
  expect(letters.map(({ offset }) => offset)).toEqual(['2']);
  expect(await consumer.forget(topic, 'a')).toBe(false);
  await consumer.release(topic, 'a');
  expect(seen).toEqual(['a-2']);
  expect(await consumer.parked({ fresh: true })).toMatchObject([{ key: 'a', messages: 2, releasing: false }]);
  expect(await consumer.forget(topic, 'a')).toBe(true);
  expect(await consumer.parked({ fresh: true })).toEqual([]);
});

test('a key to which letters have come after the look is not forgotten, nor released in its stead', async () => {
  const bus = open();
  await write(deadLetterTopic(group), [letter('a', 0)]);
  const wanted = {
    key: JSON.stringify(['release', topic, 'a']),
    value: JSON.stringify({ topic, key: 'a', forget: true }),
  };
  await write(parkedKeysTopic(group), [entry('a', 1, 0), wanted]);
  const before = double.endOf(parkedKeysTopic(group), 0);
  const consumer = await consume(bus);
  await until(() => double.endOf(parkedKeysTopic(group), 0) > before);
  expect(await consumer.parked({ fresh: true })).toMatchObject([{ key: 'a', messages: 1, releasing: false }]);
  expect(seen).toEqual([]);
});

test('a release whose dead letters cannot be read waits, and messages of other keys do not wait for it', async () => {
  const bus = open();
  await write(deadLetterTopic(group), [letter('a', 0)]);
  await write(parkedKeysTopic(group), [entry('a', 1, 0)]);
  const consumer = await consume(bus);
  double.inject({ kind: 'disconnect', on: ['Fetch'], node: 2 });
  const released = consumer.release(topic, 'a');
  await until(() => problems.some(({ kind }) => kind === 'consumer'));
  await bus.publish(topic, [{ key: 'other', event: sampleEvent('other') }]);
  await until(() => seen.includes('other'));
  expect((await consumer.parked({ fresh: true }))[0]?.releasing).toBe(true);
  double.clearFaults();
  await released;
  expect(seen).toEqual(['other', 'a-0']);
});

test('a message that was not given up, since a release that had begun before ended, is not said to be', async () => {
  let poison = true;
  let arrive: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  let letGo: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const handle = async (_message: BusMessage) => {
    if (poison) return { kind: 'park' as const, reason: 'poison' };
    arrive();
    await opened;
    return { kind: 'park' as const, reason: 'still' };
  };
  const [bus, other] = [open(), open()];
  const consumer = await consume(bus, handle);
  await bus.publish(topic, [{ key: 'a', event: sampleEvent('a') }]);
  while ((await consumer.parked()).length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  poison = false;
  const second = await consume(other, handle);
  // Its look at the first letter takes so long that a release by another begins meanwhile.
  double.inject({ kind: 'slow', delayMs: 700, on: ['Fetch'], node: 2, times: 1 });
  const discarding = second.discard(topic, 'a', '0');
  await until(() => double.faultsLeft === 0);
  const releasing = consumer.release(topic, 'a');
  await arrived;
  const before = double.endOf(parkedKeysTopic(group), 0);
  await until(() => double.endOf(parkedKeysTopic(group), 0) > before); // the discard is asked for
  letGo();
  expect(await discarding).toBe(false);
  await releasing;
  expect(await consumer.parked({ fresh: true })).toMatchObject([{ key: 'a', messages: 1, releasing: false }]);
});

test('the first message of a key is given up also where very many of other keys lie before it', async () => {
  const bus = open();
  const others = Array.from({ length: 9 }, (_, index) => letter('b', index, 2_200_000));
  await write(deadLetterTopic(group), [...others, letter('a', 9)]);
  await write(parkedKeysTopic(group), [entry('a', 1, 9)]);
  const consumer = await consume(bus);
  expect(await consumer.discard(topic, 'a', '9')).toBe(true);
  expect(await consumer.parked({ fresh: true })).toEqual([]);
  expect(seen).toEqual([]);
});

test('topics with fewer copies than are wanted are told of, once', async () => {
  const told = () => problems.filter(({ kind }) => kind === 'fewer-copies');
  problems = [];
  await open().ensureTopics([topic, 'bindery.fresh.v1']);
  await open().ensureTopics(['bindery.fresh.v1']);
  expect(told()).toEqual([{ kind: 'fewer-copies', topic: 'bindery.fresh.v1', copies: 2, wanted: 3 }]);
});
