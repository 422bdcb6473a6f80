import type { Admin } from 'kafkajs';
import { partitionOf } from '../../partitioner.ts';
import { MessageBusUnavailable, UnknownTopic } from '../../port.ts';
import { KafkaClient } from './client.ts';
import { portError } from './failures.ts';
import type { KafkaSettings } from './options.ts';
import type { Reader } from './reader.ts';
import { refusalOf } from './refusal.ts';
import { pause, within } from './within.ts';

const VALID_NAME = /^[a-zA-Z0-9._-]{1,249}$/;
/** Copies of a topic, most wanted first: one broker may be lost and another be away for maintenance. */
const PERMITTED = [3, 2, 1];
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
    const { requestTimeoutMs, replicationFactor } = this.#settings;
    const client = new KafkaClient(this.#settings);
    const admin = client.kafka.admin();
    const factors = replicationFactor === undefined ? PERMITTED : [replicationFactor];
    try {
      await within(
        requestTimeoutMs,
        'creating topics',
        // Each for itself: one that another process has just created is no failure of the others.
        admin.connect().then(() => Promise.all(names.map((name) => this.#createOne(admin, name, kind, factors)))),
      );
      await within(requestTimeoutMs, 'disconnecting', admin.disconnect());
    } catch (error) {
      throw portError(`creating the topics ${names.join(', ')}`, error);
    } finally {
      client.cut();
    }
  }

  /** With the first number of copies that the cluster permits: brokers that are away for a while count there. */
  async #createOne(admin: Admin, topic: string, kind: TopicKind, factors: readonly number[]): Promise<void> {
    const { partitions, maxMessageBytes, onProblem } = this.#settings;
    const wanted = factors[0] ?? 1;
    for (const [index, replicationFactor] of factors.entries()) {
      const configEntries = [
        { name: 'max.message.bytes', value: String(maxMessageBytes + 64 * 1024) },
        ...(replicationFactor < 3 ? [] : [{ name: 'min.insync.replicas', value: '2' }]),
        ...(kind === 'dead-letters' ? [{ name: 'retention.ms', value: '-1' }] : []),
        ...(kind === 'table' ? [{ name: 'cleanup.policy', value: 'compact' }] : []),
      ];
      const numPartitions = kind === 'table' ? 1 : partitions;
      try {
        // The library's own wait for leaders takes a broker that has not heard of the topic yet for a failure; `ensure`
        // waits.
        const created = await admin.createTopics({
          topics: [{ topic, numPartitions, replicationFactor, configEntries }],
          waitForLeaders: false,
        });
        if (created && index > 0) onProblem({ kind: 'fewer-copies', topic, copies: replicationFactor, wanted });
        return;
      } catch (error) {
        if (index + 1 === factors.length || refusalOf(error) !== 'replication') throw error;
      }
    }
  }
}
