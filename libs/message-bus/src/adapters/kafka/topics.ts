import { partitionOf } from '../../partitioner.ts';
import { MessageBusUnavailable, UnknownTopic } from '../../port.ts';
import { KafkaClient } from './client.ts';
import { portError } from './failures.ts';
import type { KafkaSettings } from './options.ts';
import type { Reader } from './reader.ts';
import { pause, within } from './within.ts';

const VALID_NAME = /^[a-zA-Z0-9._-]{1,249}$/;
/** Known topics that are remembered; the product has a few dozen. */
const MAX_REMEMBERED = 1000;

/** What a topic is for; says how long the broker keeps its messages. */
export type TopicKind = 'events' | 'dead-letters' | 'table';

/** Topics come from code alone, with a fixed number of partitions (PITFALLS 25). */
export class Topics {
  readonly #settings: KafkaSettings;
  readonly #reader: Reader;
  readonly #partitions = new Map<string, number>();

  constructor(settings: KafkaSettings, reader: Reader) {
    this.#settings = settings;
    this.#reader = reader;
  }

  /** Number of partitions; asked once. @throws UnknownTopic, MessageBusUnavailable */
  async partitions(topic: string): Promise<number> {
    const known = this.#partitions.get(topic);
    if (known !== undefined) return known;
    if (!VALID_NAME.test(topic)) throw new UnknownTopic(topic);
    const found = await this.#reader.partitionsOf(topic);
    if (this.#partitions.size >= MAX_REMEMBERED) this.#partitions.clear();
    this.#partitions.set(topic, found);
    return found;
  }

  /** Partition of a key in a topic. */
  async partitionOf(topic: string, key: string): Promise<number> {
    return partitionOf(key, await this.partitions(topic));
  }

  /** Creates what is absent; resolves when it can be used. @throws TypeError for a name that is not valid */
  async ensure(names: readonly string[], kind: TopicKind = 'events'): Promise<void> {
    for (const name of names) {
      if (!VALID_NAME.test(name)) throw new TypeError(`${name} is not a valid name of a topic`);
    }
    const missing: string[] = [];
    for (const name of new Set(names)) if (!(await this.#exists(name))) missing.push(name);
    if (missing.length === 0) return;
    await this.#create(missing, kind);
    const deadline = AbortSignal.timeout(this.#settings.requestTimeoutMs);
    for (const name of missing) {
      while (!(await this.#exists(name))) {
        if (deadline.aborted) throw new MessageBusUnavailable(`the topic ${name} was created but does not show`);
        await pause(20, deadline);
      }
    }
  }

  async #exists(name: string): Promise<boolean> {
    try {
      await this.partitions(name);
      return true;
    } catch (error) {
      if (error instanceof UnknownTopic) return false;
      throw error;
    }
  }

  async #create(names: readonly string[], kind: TopicKind): Promise<void> {
    const { partitions, replicationFactor, maxMessageBytes, requestTimeoutMs } = this.#settings;
    const configEntries = [
      { name: 'max.message.bytes', value: String(maxMessageBytes + 64 * 1024) },
      ...(kind === 'dead-letters' ? [{ name: 'retention.ms', value: '-1' }] : []),
      ...(kind === 'table' ? [{ name: 'cleanup.policy', value: 'compact' }] : []),
    ];
    const client = new KafkaClient(this.#settings);
    const admin = client.kafka.admin();
    const numPartitions = kind === 'table' ? 1 : partitions;
    const topics = names.map((topic) => ({ topic, numPartitions, replicationFactor, configEntries }));
    try {
      await within(
        requestTimeoutMs,
        'creating topics',
        // Each for itself: one that another process has just created is no failure of the others. The library's own
        // wait for leaders takes a broker that has not heard of the topic yet for a failure; `ensure` waits.
        admin
          .connect()
          .then(() =>
            Promise.all(topics.map((topic) => admin.createTopics({ topics: [topic], waitForLeaders: false }))),
          ),
      );
      await within(requestTimeoutMs, 'disconnecting', admin.disconnect());
    } catch (error) {
      throw portError(`creating the topics ${names.join(', ')}`, error);
    } finally {
      client.cut();
    }
  }
}
