import { KAFKA_ERRORS, KafkaDouble } from '@bindery/testing/kafka-double';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type MessageBus, serviceTopic } from '../port.ts';
import { sampleEvent } from '../testing.ts';
import { openKafkaMessageBus } from './kafka.ts';

const { COORDINATOR_LOAD_IN_PROGRESS, NOT_COORDINATOR, ILLEGAL_GENERATION } = KAFKA_ERRORS;
const topic = serviceTopic('content');

let double: KafkaDouble;
let bus: MessageBus;
let handled: string[];
const until = async (met: () => boolean): Promise<void> => {
  while (!met()) await new Promise((resolve) => setTimeout(resolve, 5));
};

beforeEach(async () => {
  double = await KafkaDouble.start();
  handled = [];
  const quick = { heartbeatMs: 20, fetchWaitMs: 20, commitEveryMs: 20, requestTimeoutMs: 2000 };
  bus = openKafkaMessageBus({ brokers: double.brokers.split(','), ...quick });
  await bus.ensureTopics([topic]);
  const handle = async ({ event: { id } }: { readonly event: { readonly id: string } }) => {
    handled.push(id);
    return { kind: 'done' as const };
  };
  await bus.consume({ group: 'rejoining', topics: [topic], handle });
  await bus.publish(topic, [{ key: 'k', event: sampleEvent('before') }]);
  await until(() => handled.includes('before'));
});
afterEach(async () => {
  await bus.close();
  await double.dispose();
});

/** The coordinator hands over to one that is loading the group, and knows its members then. */
test.each([
  ['JoinGroup', 1],
  ['SyncGroup', 1],
  ['JoinGroup', 3],
] as const)(
  'a member whose %s is refused by a coordinator that loads its group (%i times) joins again',
  async (request, times) => {
    double.inject({ kind: 'error', code: COORDINATOR_LOAD_IN_PROGRESS, on: [request], times });
    double.inject({ kind: 'error', code: NOT_COORDINATOR, on: ['Heartbeat'], times: 1 });
    await until(() => double.faultsLeft === 0);
    await bus.publish(topic, [{ key: 'k', event: sampleEvent('after') }]);
    await until(() => handled.includes('after'));
    expect(handled).toEqual(['before', 'after']);
    expect(double.members('rejoining')).toBe(1);
  },
  15_000,
);

test('what was handled when the coordinator moved is stored at the next one, and not handled again', async () => {
  double.inject({ kind: 'error', code: NOT_COORDINATOR, on: ['OffsetCommit'] });
  await bus.publish(topic, [{ key: 'k', event: sampleEvent('during') }]);
  await until(() => handled.includes('during'));
  const joined = double.requests('JoinGroup');
  double.inject({ kind: 'error', code: ILLEGAL_GENERATION, on: ['Heartbeat'], times: 1 });
  await until(() => double.requests('FindCoordinator') > 1 && double.faultsLeft === 1);
  double.clearFaults();
  await until(() => double.requests('JoinGroup') > joined);
  await bus.publish(topic, [{ key: 'k', event: sampleEvent('after') }]);
  await until(() => handled.includes('after'));
  expect(handled).toEqual(['before', 'during', 'after']);
}, 15_000);
