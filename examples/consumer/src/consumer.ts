import kafkajs, { type EachMessagePayload, type KafkaConfig } from 'kafkajs';
import { readMerged, Unreadable } from './event.ts';
import type { Inbox } from './inbox.ts';
import { continueTrace } from './trace.ts';

export interface ConsumerOptions {
  /** Brokers, and how to reach and sign in at them. */
  readonly connection: Pick<KafkaConfig, 'brokers' | 'ssl' | 'sasl'>;
  readonly topic: string;
  readonly group: string;
  readonly inbox: Inbox;
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
}

/** Follows the topic until `stop`, which ends after the message in hand and leaves the group. */
export const startConsumer = async (options: ConsumerOptions): Promise<{ stop(): Promise<void> }> => {
  const { connection, topic, group, inbox, log } = options;
  const kafka = new kafkajs.Kafka({ clientId: group, ...connection, logLevel: kafkajs.logLevel.NOTHING });
  const consumer = kafka.consumer({
    groupId: group,
    sessionTimeout: 10_000,
    heartbeatInterval: 1_000,
    rebalanceTimeout: 15_000,
    // The broker may be away for as long as it likes: the group goes on where it was.
    retry: { initialRetryTime: 200, maxRetryTime: 5_000, restartOnFailure: async () => true },
  });

  const handle = ({ topic, partition, message }: EachMessagePayload): void => {
    try {
      const event = readMerged(message);
      if (event === undefined) return;
      const { traceId, spanId } = continueTrace(event.traceparent);
      const applied = inbox.apply(event);
      log({ message: applied ? 'counted' : 'known already', event: event.id, space: event.spaceId, traceId, spanId });
    } catch (error) {
      // Anything else is thrown: the library tries again, and the partition waits, so that order is kept.
      if (!(error instanceof Unreadable)) throw error;
      inbox.refuse({ topic, partition, offset: message.offset }, error.message);
      log({ message: 'put aside', topic, partition, offset: message.offset, reason: error.message });
    }
  };

  // Nothing is lost meanwhile; but whoever looks should see why nothing comes.
  consumer.on(consumer.events.CRASH, ({ payload }) => log({ message: 'trouble', reason: payload.error.message }));
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    // The library commits only what `eachMessage` has returned from: the effect is stored before its offset. A rebalance
    // waits for the message in hand; whatever is handed out again is known by its id.
    autoCommit: true,
    autoCommitThreshold: 50,
    autoCommitInterval: 500,
    partitionsConsumedConcurrently: 3,
    eachMessage: async (payload) => handle(payload),
  });
  return {
    stop: async () => {
      await consumer.disconnect();
      inbox.close();
    },
  };
};
