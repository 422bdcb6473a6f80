import { openKafkaMessageBus } from '@bindery/message-bus/kafka';
import { describe } from '@jest/globals';
import { fencing } from '../message-bus-conformance/fencing.ts';
import { forgetting } from '../message-bus-conformance/forgetting.ts';
import type { MessageBusHarness } from '../message-bus-conformance/harness.ts';
import { describeMessageBusConformance } from '../message-bus-conformance/index.ts';
import { writeKeylessToKafka } from '../message-bus-conformance/keyless.ts';
import { loseMessagesOfKafka } from '../message-bus-conformance/losing.ts';
import { operating } from '../message-bus-conformance/operating.ts';
import { KafkaDouble } from './double.ts';

const harness: MessageBusHarness = {
  createPlace: async () => {
    const double = await KafkaDouble.start();
    const settings = { brokers: double.brokers.split(','), heartbeatMs: 40, commitEveryMs: 10, fetchWaitMs: 20 };
    return {
      open: async () => openKafkaMessageBus(settings),
      restart: () => double.restart(),
      writeKeyless: writeKeylessToKafka({ brokers: settings.brokers }),
      loseMessages: loseMessagesOfKafka({ brokers: settings.brokers }),
      dispose: () => double.dispose(),
    };
  },
  manyMessages: 1_000,
};

if (process.env.LONG_TESTS === '1') {
  describeMessageBusConformance('Kafka, wire double', { ...harness, patienceMs: 15_000 });
} else {
  describe('message bus: Kafka, wire double (the rest of its suite takes half a minute: LONG_TESTS=1)', () => {
    describe('fencing', () => fencing(harness));
    describe('operating', () => operating(harness));
    describe('forgetting', () => forgetting(harness));
  });
}
