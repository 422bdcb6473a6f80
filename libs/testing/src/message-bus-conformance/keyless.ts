import { type CloudEvent, toBinary } from '@bindery/message-bus';
import kafkajs, { type KafkaConfig } from 'kafkajs';

/** Writes to Kafka without keys: in turn into the first two partitions. For `writeKeyless` of a place. */
export const writeKeylessToKafka =
  (config: KafkaConfig) =>
  async (topic: string, events: readonly CloudEvent[]): Promise<void> => {
    const producer = new kafkajs.Kafka({ ...config, logLevel: kafkajs.logLevel.NOTHING }).producer();
    await producer.connect();
    try {
      const messages = events.map((event, index) => {
        const { value, headers } = toBinary(event);
        return { key: null, value, headers, partition: index % 2 };
      });
      await producer.send({ topic, messages });
    } finally {
      await producer.disconnect();
    }
  };
