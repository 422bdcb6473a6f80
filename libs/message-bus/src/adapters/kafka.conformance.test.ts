import { describeMessageBusConformance, loseMessagesOfKafka, writeKeylessToKafka } from '@bindery/testing';
import { describe } from '@jest/globals';
import { openKafkaMessageBus } from './kafka.ts';

const brokers = process.env.KAFKA_BROKERS ?? '';

const suite = (): void =>
  describeMessageBusConformance('Kafka', {
    createPlace: async () => ({
      open: async () => openKafkaMessageBus({ brokers: brokers.split(','), heartbeatMs: 200, commitEveryMs: 20 }),
      writeKeyless: writeKeylessToKafka({ brokers: brokers.split(',') }),
      loseMessages: loseMessagesOfKafka({ brokers: brokers.split(',') }),
      dispose: async () => undefined,
    }),
    patienceMs: 15_000,
  });

const withBroker = brokers === '' ? describe.skip : describe;
withBroker(brokers === '' ? 'SKIPPED: Kafka (KAFKA_BROKERS is not set)' : 'Kafka', suite);
