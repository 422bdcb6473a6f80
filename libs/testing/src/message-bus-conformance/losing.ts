import kafkajs, { type KafkaConfig } from 'kafkajs';

/** Deletes the records of a topic of Kafka, or those before an offset of each partition. For `loseMessages` of a place. */
export const loseMessagesOfKafka =
  (config: KafkaConfig) =>
  async (topic: string, before?: string): Promise<void> => {
    const admin = new kafkajs.Kafka({ ...config, logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      const ends = await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({
        topic,
        partitions: ends.map(({ partition, high }) => ({ partition, offset: before ?? high })),
      });
    } finally {
      await admin.disconnect();
    }
  };
