import type { PartitionerArgs, ProducerBatch, RecordMetadata } from 'kafkajs';
import { MessageBusUnavailable } from '../../port.ts';

/** What sends a batch: a producer, or its transaction. */
export interface BatchSender {
  sendBatch(batch: ProducerBatch): Promise<RecordMetadata[]>;
}

type Messages = NonNullable<ProducerBatch['topicMessages']>;

/** Partitions whose leader is remembered; the product writes to a few hundred. */
const MAX_REMEMBERED = 10_000;
/** Of the partitions whose leader is not known yet. */
const NOBODY = -1;

const placeOf = (topic: string, partition = 0): string => `${topic}/${partition}`;

/**
 * Sends batches so that every partition is acknowledged, and what a broker has is not sent to it again. The library (2.2.4,
 * its last) repeats what failed on one broker of several, but remembers by broker who has answered: a partition whose
 * leader moved to a broker that had already answered for others is left out, and the batch counts as sent
 * (github.com/tulios/kafkajs/pull/1798); and a broker that is slower to answer than another is to fail gets the same once
 * more, with new sequence numbers. So each leader gets a batch of its own, and what has no answer in the end is sent
 * again, by the same producer: with the sequence numbers of the first try, so that a broker that has it says so.
 */
export class WholeBatches {
  readonly #leaders = new Map<string, number>();

  /** For the producer: takes the partition that the message says, and remembers who leads it. */
  readonly partitioner = (): ((args: PartitionerArgs) => number) => {
    return ({ topic, partitionMetadata, message: { partition = 0 } }) => {
      if (this.#leaders.size >= MAX_REMEMBERED) this.#leaders.clear();
      const found = partitionMetadata.find(({ partitionId }) => partitionId === partition);
      if (found !== undefined) this.#leaders.set(placeOf(topic, partition), found.leader);
      return partition;
    };
  };

  /**
   * Resolves when all of it is acknowledged.
   * @param abandoned looked at before each further try: nobody waits for the outcome any more
   * @throws whatever the library says of the first part that failed, when all parts have come to their end
   */
  async send(
    sender: BatchSender,
    batch: Omit<ProducerBatch, 'topicMessages'> & { readonly topicMessages: Messages },
    abandoned: () => boolean,
  ): Promise<readonly RecordMetadata[]> {
    const answers: RecordMetadata[] = [];
    const answered = new Set<string>();
    let left = batch.topicMessages;
    while (left.length > 0 && !abandoned()) {
      const before = answered.size;
      const parts = this.#byLeader(left);
      const outcomes = await Promise.allSettled(
        parts.map((part) => sender.sendBatch({ ...batch, topicMessages: part })),
      );
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') throw outcome.reason;
        for (const each of outcome.value) answered.add(placeOf(each.topicName, each.partition));
        answers.push(...outcome.value);
      }
      if (answered.size === before) throw new MessageBusUnavailable('no broker has acknowledged anything');
      left = only(left, (place) => !answered.has(place));
    }
    return answers;
  }

  #byLeader(batch: Messages): readonly Messages[] {
    const leaderOf = (place: string): number => this.#leaders.get(place) ?? NOBODY;
    const leaders = new Set<number>();
    for (const { topic, messages } of batch) {
      for (const { partition } of messages) leaders.add(leaderOf(placeOf(topic, partition)));
    }
    if (leaders.size === 1) return [batch];
    return [...leaders].map((leader) => only(batch, (place) => leaderOf(place) === leader));
  }
}

/** The messages of a batch whose partitions are wanted, in their order. */
const only = (batch: Messages, wanted: (place: string) => boolean): Messages =>
  batch
    .map(({ topic, messages }) => ({
      topic,
      messages: messages.filter(({ partition }) => wanted(placeOf(topic, partition))),
    }))
    .filter(({ messages }) => messages.length > 0);
