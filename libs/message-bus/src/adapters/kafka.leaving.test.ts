import { KafkaDouble } from '@bindery/testing/kafka-double';
import { expect, test } from '@jest/globals';
import { serviceTopic } from '../port.ts';
import { openKafkaMessageBus } from './kafka.ts';

/** Turns of the event loop until `met`: none are left when something spins. */
const until = async (met: () => boolean): Promise<void> => {
  while (!met()) await new Promise((resolve) => setTimeout(resolve, 5));
};

test('a member that stops while its group joins is given partitions too late, and begins nothing', async () => {
  const double = await KafkaDouble.start();
  const settings = { brokers: double.brokers.split(','), heartbeatMs: 20, fetchWaitMs: 20, requestTimeoutMs: 2000 };
  const [bus, other] = [openKafkaMessageBus(settings), openKafkaMessageBus(settings)];
  const topics = [serviceTopic('content')];
  const options = { group: 'leaving', topics, handle: async () => ({ kind: 'done' as const }) };
  try {
    await bus.ensureTopics(topics);
    for (let round = 0; round < 5; round += 1) {
      const leaving = await bus.consume(options);
      await until(() => bus.consumers().some(({ state }) => state === 'working'));
      double.inject({ kind: 'slow', delayMs: 100, on: ['SyncGroup'] });
      const synced = double.requests('SyncGroup');
      const joining = other.consume(options);
      await until(() => double.requests('SyncGroup') > synced);
      await leaving.stop();
      double.clearFaults();
      const joined = await joining;
      await until(() => other.consumers().some(({ state }) => state === 'working'));
      await joined.stop();
      expect(double.members('leaving')).toBe(0);
    }
  } finally {
    await Promise.all([bus.close(), other.close()]);
    await double.dispose();
  }
}, 20_000);
