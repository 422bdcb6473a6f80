import {
  type BusMessage,
  type ConsumerOptions,
  deadLetterTopic,
  type MessageBus,
  MessageBusUnavailable,
  type Publisher,
  type RunningConsumer,
} from '../port.ts';
import { type ConsumerState, GroupConsumer } from './kafka/group-consumer.ts';
import { lastMessages } from './kafka/last.ts';
import { encode, type OutgoingRecord } from './kafka/messages.ts';
import { type KafkaMessageBusOptions, type KafkaSettings, settingsOf } from './kafka/options.ts';
import { ParkedKeys, parkedKeysTopic } from './kafka/parked-keys.ts';
import { Parking } from './kafka/parking.ts';
import { Reader } from './kafka/reader.ts';
import { Sender } from './kafka/sender.ts';
import { tailTopics } from './kafka/tail.ts';
import { Topics } from './kafka/topics.ts';
import { TransactionalPublisher } from './kafka/transactional-publisher.ts';

export type { ConsumerState } from './kafka/group-consumer.ts';
export type { KafkaLogLine, KafkaMessageBusOptions, KafkaProblem, KafkaSasl } from './kafka/options.ts';
export { isClosedAtOnce, KafkaRefusal, type RefusalReason, refusalOf } from './kafka/refusal.ts';

/** The bus on Kafka, with what readiness asks. */
export interface KafkaMessageBus extends MessageBus {
  /** Resolves when a broker has answered, and signing in has worked. @throws MessageBusUnavailable, KafkaRefusal */
  reach(): Promise<void>;
  /** The members of this process; one that is `down` has lost its place and tries to join again. */
  consumers(): readonly { readonly group: string; readonly state: ConsumerState }[];
}

const MAX_LAST = 10_000;

class KafkaBus implements KafkaMessageBus {
  readonly #settings: KafkaSettings;
  readonly #reader: Reader;
  readonly #sender: Sender;
  readonly #topics: Topics;
  readonly #consumers = new Set<GroupConsumer>();
  readonly #publishers = new Set<TransactionalPublisher>();
  readonly #closed = new AbortController();
  readonly #publishing = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(options: KafkaMessageBusOptions) {
    this.#settings = settingsOf(options);
    this.#reader = new Reader(this.#settings);
    this.#sender = new Sender(this.#settings);
    this.#topics = new Topics(this.#settings, this.#reader);
  }

  async reach(): Promise<void> {
    this.#mustBeOpen();
    await this.#reader.reach();
  }

  async ensureTopics(topics: readonly string[]): Promise<void> {
    this.#mustBeOpen();
    await this.#topics.ensure(topics);
  }

  async publish(topic: string, messages: Parameters<MessageBus['publish']>[1]): Promise<void> {
    this.#mustBeOpen();
    const publishing = this.#prepare(topic, messages).then((records) => this.#sender.send(topic, records));
    this.#publishing.add(publishing);
    try {
      await publishing;
    } finally {
      this.#publishing.delete(publishing);
    }
  }

  async openPublisher(id: string): Promise<Publisher> {
    this.#mustBeOpen();
    if (!/^[a-zA-Z0-9._-]{1,249}$/.test(id)) throw new TypeError(`${id} is not a valid id of a publisher`);
    const prepare = (topic: string, messages: Parameters<MessageBus['publish']>[1]) => this.#prepare(topic, messages);
    const publisher = await TransactionalPublisher.open(id, this.#settings, prepare, (closed) =>
      this.#publishers.delete(closed),
    );
    this.#publishers.add(publisher);
    return publisher;
  }

  async consume(options: ConsumerOptions): Promise<RunningConsumer> {
    const { group, topics, handle, maxAttempts = 5, backoffMs = 200, from = 'beginning' } = options;
    this.#mustBeOpen();
    for (const topic of topics) await this.#topics.partitions(topic);
    const dead = deadLetterTopic(group);
    await this.#topics.ensure([dead], 'dead-letters');
    await this.#topics.ensure([parkedKeysTopic(group)], 'table');
    const deadPartitions = await this.#topics.partitions(dead);
    this.#mustBeOpen();
    const settings = this.#settings;
    const keys = new ParkedKeys(group, settings, this.#sender, () => consumer?.wake());
    const consumer: GroupConsumer = new GroupConsumer({
      group,
      topics,
      from,
      handling: { handle, maxAttempts, backoffMs, random: settings.random },
      settings,
      catalogue: this.#topics,
      reader: this.#reader,
      parking: new Parking(group, deadPartitions, keys, {
        sender: this.#sender,
        reader: this.#reader,
        now: settings.now,
      }),
    });
    this.#consumers.add(consumer);
    const stop = (): Promise<void> => consumer.stop().finally(() => this.#consumers.delete(consumer));
    try {
      await consumer.ready();
    } catch (error) {
      await stop();
      throw error;
    }
    return {
      lag: () => consumer.lag(),
      parked: (page) => consumer.parked(page),
      letters: (topic, key, page) => consumer.letters(topic, key, page),
      release: (topic, key, signal) => consumer.release(topic, key, signal),
      discard: (topic, key, offset, signal) => consumer.discard(topic, key, offset, signal),
      forget: (topic, key, signal) => consumer.forget(topic, key, signal),
      stop,
    };
  }

  tail(topics: readonly string[], options: Parameters<MessageBus['tail']>[1]): AsyncIterable<BusMessage> {
    this.#mustBeOpen();
    return tailTopics(this.#settings, topics, { ...options, closed: this.#closed.signal });
  }

  async last(topic: string, count: number): Promise<readonly BusMessage[]> {
    this.#mustBeOpen();
    if (!(Number.isSafeInteger(count) && count >= 0 && count <= MAX_LAST)) {
      throw new RangeError(`count must be an integer from 0 to ${MAX_LAST}, not ${String(count)}`);
    }
    return lastMessages(this.#reader, topic, count);
  }

  consumers(): readonly { readonly group: string; readonly state: ConsumerState }[] {
    return [...this.#consumers].map(({ group, state }) => ({ group, state }));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#closed.abort();
    await Promise.allSettled([...this.#publishing]); // whoever published is told
    await Promise.all([...this.#consumers].map((consumer) => consumer.stop()));
    await Promise.all([...this.#publishers].map((publisher) => publisher.close()));
    await this.#sender.close();
    this.#reader.close();
  }

  /** Encodes everything before anything is sent. @throws TypeError, UnknownTopic, MessageBusUnavailable */
  async #prepare(topic: string, messages: Parameters<MessageBus['publish']>[1]): Promise<readonly OutgoingRecord[]> {
    const encoded = messages.map((message) => encode(message, this.#settings.maxMessageBytes));
    await this.#topics.partitions(topic);
    return Promise.all(
      encoded.map(async (record) => ({ ...record, partition: await this.#topics.partitionOf(topic, record.key) })),
    );
  }

  #mustBeOpen(): void {
    if (this.#closed.signal.aborted) throw new MessageBusUnavailable('the message bus is closed');
  }
}

/**
 * Opens the message bus on Kafka (DESIGN section 6). Nothing is connected until it is needed; a broker that is away shows
 * as `MessageBusUnavailable` where something is asked of it, and consumers wait for it.
 * @throws TypeError without brokers
 */
export const openKafkaMessageBus = (options: KafkaMessageBusOptions): KafkaMessageBus => new KafkaBus(options);
