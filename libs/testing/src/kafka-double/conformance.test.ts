import { openKafkaMessageBus } from '@bindery/message-bus/kafka';
import { describeMessageBusConformance } from '../message-bus-conformance/index.ts';
import { KafkaDouble } from './double.ts';

describeMessageBusConformance('Kafka, wire double', {
  createPlace: async () => {
    const double = await KafkaDouble.start();
    return {
      open: async () =>
        openKafkaMessageBus({ brokers: double.brokers.split(','), heartbeatMs: 100, commitEveryMs: 20 }),
      restart: () => double.restart(),
      dispose: () => double.dispose(),
    };
  },
  manyMessages: 2_000,
});
