import type { Message, PartitionerArgs, ProducerBatch, RecordMetadata } from 'kafkajs';
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

/** A part of a batch that goes to one leader. */
interface Part {
  readonly messages: Messages;
  readonly first: Message | undefined;
  /** Who leads the partition of its first message, as of the try that is under way. */
  leader: number;
}

/** The partitions of a part have different leaders by now: nothing of it is under way. */
class Spread extends Error {
  readonly retriable = false;
}

const isSpread = (error: unknown): boolean => error instanceof Spread || Object(error).cause instanceof Spread;

/**
 * Sends batches so that every partition is acknowledged, and what a broker has is not sent to it again. The library (2.2.4,
 * its last) is not up to several brokers in one call. It remembers by broker who has answered: a partition whose leader
 * moved to a broker that had already answered for others is left out, and the batch counts as sent
 * (github.com/tulios/kafkajs/pull/1798). And it tries again as soon as one of the brokers fails: what is under way to a
 * slower one is sent there once more, with new sequence numbers. So each leader gets a call of its own, and a call whose
 * partitions come to have several leaders ends before it sends anything, to be divided again. The producer stays the same:
 * a try has the sequence numbers of the one before, so a broker that has the messages says so.
 */
export class WholeBatches {
  readonly #leaders = new Map<string, number>();
  readonly #parts = new WeakMap<Message, Part>();

  /** For the producer: takes the partition that the message says. Each try asks it for all messages, in their order. */
  readonly partitioner = (): ((args: PartitionerArgs) => number) => {
    return ({ topic, partitionMetadata, message }) => {
      const { partition = 0 } = message;
      const part = this.#parts.get(message);
      if (part === undefined) return partition;
      const leader = partitionMetadata.find(({ partitionId }) => partitionId === partition)?.leader ?? NOBODY;
      if (message === part.first) part.leader = leader;
      if (leader !== part.leader) {
        for (const { partitionId, leader: other } of partitionMetadata) this.#remember(topic, partitionId, other);
        this.#remember(topic, partition, leader);
        throw new Spread('the partitions of a request have different leaders');
      }
      return partition;
    };
  };

  /**
   * Resolves when all of it is acknowledged.
   * @param abandoned looked at before each further try: nobody waits for the outcome any more
   * @throws MessageBusUnavailable when it was abandoned before all of it was acknowledged; whatever the library says of the first part that failed, when all parts have come to their end
   */
  async send(
    sender: BatchSender,
    batch: Omit<ProducerBatch, 'topicMessages'> & { readonly topicMessages: Messages },
    abandoned: () => boolean,
  ): Promise<readonly RecordMetadata[]> {
    const answers: RecordMetadata[] = [];
    const answered = new Set<string>();
    let left = batch.topicMessages;
    while (left.length > 0) {
      if (abandoned()) throw new MessageBusUnavailable('nobody waits for the rest of a batch any more');
      const before = answered.size;
      const outcomes = await Promise.allSettled(
        this.#byLeader(left).map((part) => sender.sendBatch({ ...batch, topicMessages: part.messages })),
      );
      let spread = false;
      for (const outcome of outcomes) {
        if (outcome.status === 'fulfilled') {
          for (const each of outcome.value) answered.add(placeOf(each.topicName, each.partition));
          answers.push(...outcome.value);
        } else if (isSpread(outcome.reason)) spread = true;
        else throw outcome.reason;
      }
      if (answered.size === before && !spread) throw new MessageBusUnavailable('no broker has acknowledged anything');
      left = only(left, (place) => !answered.has(place));
    }
    return answers;
  }

  #remember(topic: string, partition: number, leader: number): void {
    if (this.#leaders.size >= MAX_REMEMBERED) this.#leaders.clear();
    this.#leaders.set(placeOf(topic, partition), leader);
  }

  #byLeader(batch: Messages): readonly Part[] {
    const leaderOf = (place: string): number => this.#leaders.get(place) ?? NOBODY;
    const leaders = new Set<number>();
    for (const { topic, messages } of batch) {
      for (const { partition } of messages) leaders.add(leaderOf(placeOf(topic, partition)));
    }
    return [...leaders].map((leader) => {
      const messages = leaders.size === 1 ? batch : only(batch, (place) => leaderOf(place) === leader);
      const part: Part = { messages, first: messages[0]?.messages[0], leader };
      for (const each of messages) for (const message of each.messages) this.#parts.set(message, part);
      return part;
    });
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
