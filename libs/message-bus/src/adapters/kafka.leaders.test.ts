import { KAFKA_ERRORS, KafkaDouble } from '@bindery/testing/kafka-double';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { partitionOf } from '../partitioner.ts';
import type { MessageBus } from '../port.ts';
import { sampleEvent } from '../testing.ts';
import { openKafkaMessageBus } from './kafka.ts';

const topic = 'bindery.moving.v1';
const partitions = 4;
/** One key for each partition, so that each batch goes to every broker. */
const keys = Array.from({ length: 100 }, (_, index) => `k${index}`).filter(
  (key, index, all) =>
    all.findIndex((other) => partitionOf(other, partitions) === partitionOf(key, partitions)) === index,
);
const batch = (round: number) => keys.map((key) => ({ key, event: sampleEvent(`${key}-${round}`) }));

let double: KafkaDouble;
let bus: MessageBus;

beforeEach(async () => {
  double = await KafkaDouble.start({ brokers: 3 });
  bus = openKafkaMessageBus({ brokers: double.brokers.split(','), partitions, publishTimeoutMs: 5000 });
  await bus.ensureTopics([topic]);
});
afterEach(async () => {
  await bus.close();
  await double.dispose();
});

const ids = async (): Promise<readonly string[]> => (await bus.last(topic, 1000)).map(({ event: { id } }) => id).sort();
const expected = (rounds: number): readonly string[] =>
  Array.from({ length: rounds }, (_, round) => batch(round).map(({ event: { id } }) => id))
    .flat()
    .sort();

/** Everything that the third broker leads goes to the first, which hears of it when the third is asked. */
const moveWhileAsked = (): void => {
  for (let partition = 0; partition < partitions; partition += 1) {
    if ((partition % 3) + 1 === 3) double.lead(topic, partition, 1);
  }
};

describe.each([
  ['the bus', async () => (messages: ReturnType<typeof batch>) => bus.publish(topic, messages)],
  [
    'a publisher',
    async () => {
      const publisher = await bus.openPublisher('p');
      return (messages: ReturnType<typeof batch>) => publisher.publish(topic, messages);
    },
  ],
])('partitions led by several brokers, written by %s', (_name, open) => {
  test('a leader that moves to a broker that has answered already loses nothing', async () => {
    expect(keys).toHaveLength(partitions);
    const publish = await open();
    // Stale from the first request on: what the client was told of the leaders is not true any more.
    await bus.last(topic, 1);
    const known = double.requests('Metadata');
    double.inject({ kind: 'slow', delayMs: 50, on: ['Produce'], node: 3 });
    const publishing = publish(batch(0));
    while (double.requests('Produce') < 3) await new Promise((resolve) => setTimeout(resolve, 1));
    moveWhileAsked();
    await publishing;
    expect(double.requests('Metadata')).toBeGreaterThan(known);
    expect(await ids()).toEqual(expected(1));
  });

  test('a broker that fails makes none of the others be written to twice', async () => {
    const publish = await open();
    await publish(batch(0));
    double.inject({ kind: 'slow', delayMs: 300, on: ['Produce'], node: 1 });
    double.inject({ kind: 'error', code: KAFKA_ERRORS.NOT_LEADER_OR_FOLLOWER, on: ['Produce'], node: 3, times: 1 });
    await publish(batch(1));
    expect(await ids()).toEqual(expected(2));
    expect(double.faultsLeft).toBe(1);
  });

  test('partitions of one leader that get two, of which one fails, are not written twice', async () => {
    const publish = await open();
    await publish(batch(0));
    const sent = double.requests('Produce');
    double.inject({ kind: 'slow', delayMs: 50, on: ['Produce'], node: 1, times: 1 });
    const publishing = publish(batch(1));
    while (double.requests('Produce') < sent + 3) await new Promise((resolve) => setTimeout(resolve, 1));
    double.lead(topic, 0, 2); // both were the first broker's
    double.lead(topic, 3, 3);
    double.inject({ kind: 'slow', delayMs: 1000, on: ['Produce'], node: 2 });
    double.inject({ kind: 'error', code: KAFKA_ERRORS.NOT_LEADER_OR_FOLLOWER, on: ['Produce'], node: 3, times: 1 });
    await publishing;
    expect(await ids()).toEqual(expected(2));
    expect(double.faultsLeft).toBe(1);
  });
});

test('members share partitions of several brokers, and follow a leader that moves', async () => {
  const seen: string[] = [];
  await bus.consume({
    group: 'g',
    topics: [topic],
    handle: async ({ event: { id } }) => {
      seen.push(id);
      return { kind: 'done' };
    },
  });
  const until = async (count: number): Promise<void> => {
    while (new Set(seen).size < count) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  await bus.publish(topic, batch(0));
  await until(partitions);
  moveWhileAsked();
  await bus.publish(topic, batch(1));
  await until(2 * partitions);
  expect([...new Set(seen)].sort()).toEqual(expected(2));
});
