import type { DatabaseSync } from 'node:sqlite';
import { ChangeFeed, GroupCommit, openDatabase } from '@bindery/event-store/sqlite-kit';
import { toBinary } from '../cloud-events.ts';
import { PARTITIONS } from '../partitioner.ts';
import {
  type BusMessage,
  type CloudEvent,
  type ConsumerOptions,
  deadLetterTopic,
  type MessageBus,
  MessageBusUnavailable,
  type Publisher,
  type RunningConsumer,
} from '../port.ts';
import { type BusContext, type BusProblem, groupKey, partitionKey, plainWrite, topicKey } from './embedded/context.ts';
import { GroupConsumer } from './embedded/group-consumer.ts';
import { Groups } from './embedded/groups.ts';
import { endInstance, newInstance } from './embedded/instance.ts';
import { type EncodedMessage, Log, toBusMessage } from './embedded/log.ts';
import { Parking } from './embedded/parking.ts';
import { Publishers } from './embedded/publishers.ts';
import { Retention, type RetentionOptions } from './embedded/retention.ts';
import { APPLICATION_ID, MIGRATIONS } from './embedded/schema.ts';
import { tailTopics } from './embedded/tail.ts';

export type { BusProblem } from './embedded/context.ts';
export type { RetentionOptions } from './embedded/retention.ts';

export interface EmbeddedMessageBusOptions {
  /** Database file, one for the whole installation; made when absent. `:memory:` for tests. */
  readonly path: string;
  /** Partitions of topics that `ensureTopics` creates; existing ones keep theirs. Default 6. */
  readonly partitions?: number;
  /** Milliseconds since 1970; for ages and retention only. Default `Date.now`. */
  readonly now?: () => number;
  /** 0 to 1, for the jitter of back-offs. Default `Math.random`. */
  readonly random?: () => number;
  /** After so long without a sign of life a process loses its partitions, in ms. Default 10,000. */
  readonly leaseMs?: number;
  /** How soon messages of another process are noticed, in ms. Those of this process are at once. Default 100. */
  readonly pollMs?: number;
  /** How long a stopping consumer waits for the handlers before it aborts them, in ms. Default 10,000. */
  readonly stopTimeoutMs?: number;
  readonly retention?: RetentionOptions;
  /** Told what an operator should know; for logs and metrics. */
  readonly onProblem?: (problem: BusProblem) => void;
  /** Called after each commit; for metrics. */
  readonly onCommit?: (commit: { readonly writes: number; readonly durationMs: number }) => void;
}

/** The embedded bus, with what only an operator needs. */
export interface EmbeddedMessageBus extends MessageBus {
  /** Runs one round of retention now. */
  prune(): Promise<void>;
}

const MAX_LAST = 10_000;
/** Of topics and publishers. */
const VALID_NAME = /^[a-zA-Z0-9._-]{1,249}$/;

const encode = ({ key, event }: { readonly key: string; readonly event: CloudEvent }): EncodedMessage => {
  if (typeof key !== 'string' || key === '' || key.includes('\0') || !key.isWellFormed()) {
    throw new TypeError('the key of a message must be a text that is not empty');
  }
  const { value, headers } = toBinary(event);
  const text = JSON.stringify(headers);
  return { key, value, headers: text, bytes: value.byteLength + text.length };
};

class SqliteMessageBus implements EmbeddedMessageBus {
  readonly #db: DatabaseSync;
  readonly #context: BusContext;
  readonly #partitions: number;
  readonly #retention: Retention;
  readonly #publishers: Publishers;
  readonly #consumers = new Set<RunningConsumer>();
  readonly #closed = new AbortController();
  #members = 0;
  #heart: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: EmbeddedMessageBusOptions) {
    const { path, now = Date.now, onProblem = () => undefined } = options;
    this.#db = openDatabase({ path, kind: 'message log', applicationId: APPLICATION_ID, migrations: MIGRATIONS });
    this.#partitions = options.partitions ?? PARTITIONS;
    const commits = new GroupCommit(this.#db, {
      ...(options.onCommit && { onCommit: options.onCommit }),
      unavailable: (message, cause) => new MessageBusUnavailable(`the message bus ${message}`, { cause }),
    });
    const log = new Log(this.#db, now);
    this.#context = {
      log,
      groups: new Groups(this.#db),
      parking: new Parking(this.#db, log, now),
      commits,
      changes: new ChangeFeed(this.#db, options.pollMs ?? 100),
      instance: newInstance(),
      now,
      random: options.random ?? Math.random,
      leaseMs: options.leaseMs ?? 10_000,
      stopTimeoutMs: options.stopTimeoutMs ?? 10_000,
      onProblem,
    };
    this.#publishers = new Publishers(this.#db);
    this.#retention = new Retention(this.#db, commits, { ...options.retention, now, onProblem });
  }

  async ensureTopics(topics: readonly string[]): Promise<void> {
    const { commits, log } = this.#context;
    for (const name of topics) {
      if (!VALID_NAME.test(name)) throw new TypeError(`${name} is not a valid name of a topic`);
    }
    await commits.submit(
      plainWrite(() => {
        for (const name of topics) log.createTopic(name, this.#partitions);
      }),
    );
  }

  publish(topic: string, messages: Parameters<MessageBus['publish']>[1]): Promise<void> {
    return this.#publish(topic, messages, () => undefined);
  }

  async openPublisher(id: string): Promise<Publisher> {
    this.#mustBeOpen();
    if (!VALID_NAME.test(id)) throw new TypeError(`${id} is not a valid id of a publisher`);
    const epoch = await this.#context.commits.submit(plainWrite(() => this.#publishers.open(id)));
    let closed = false;
    return {
      publish: async (topic, messages) => {
        if (closed) throw new MessageBusUnavailable(`the publisher ${id} is closed`);
        await this.#publish(topic, messages, () => this.#publishers.mustHold(id, epoch));
      },
      close: async () => {
        closed = true;
      },
    };
  }

  /** @param check throws when nothing may be written; called in the transaction of the write */
  async #publish(topic: string, messages: Parameters<MessageBus['publish']>[1], check: () => void): Promise<void> {
    const { changes, commits, log } = this.#context;
    const encoded = messages.map(encode);
    const written = await commits.submit({
      bytes: encoded.reduce((sum, message) => sum + message.bytes, 0),
      check: () => {
        check();
        return log.topic(topic);
      },
      write: (found) => ({
        id: found.id,
        partitions: new Set(encoded.map((message) => log.append(found, message).partition)),
      }),
    });
    const partitions = [...written.partitions].map((partition) => partitionKey(written.id, partition));
    changes.notify(topicKey(written.id), ...partitions);
  }

  async consume(options: ConsumerOptions): Promise<RunningConsumer> {
    const { changes, commits, groups, instance, log } = this.#context;
    const { group, handle, maxAttempts = 5, backoffMs = 200, from = 'beginning' } = options;
    this.#mustBeOpen();
    const topics = options.topics.map((name) => log.topic(name));
    const dead = deadLetterTopic(group);
    await this.ensureTopics([dead]);
    this.#members += 1;
    const id = `${instance}|${this.#members}`;
    const member = { id, instance, topicIds: topics.map((topic) => topic.id) };
    const groupId = await commits.submit(plainWrite(() => groups.join(group, member, from)));
    this.#startHeart();
    const handling = { group, deadLetters: log.topic(dead), handle, maxAttempts, backoffMs };
    const consumer = new GroupConsumer(this.#context, { id, groupId, topics, from }, handling);
    this.#consumers.add(consumer);
    changes.notify(groupKey(groupId));
    return {
      lag: () => consumer.lag(),
      parked: (page) => consumer.parked(page),
      letters: (topic, key, page) => consumer.letters(topic, key, page),
      release: (topic, key, signal) => consumer.release(topic, key, signal),
      discard: (topic, key, offset, signal) => consumer.discard(topic, key, offset, signal),
      forget: (topic, key, signal) => consumer.forget(topic, key, signal),
      stop: () => consumer.stop().finally(() => this.#consumers.delete(consumer)),
    };
  }

  tail(topics: readonly string[], options: Parameters<MessageBus['tail']>[1]): AsyncIterable<BusMessage> {
    this.#mustBeOpen();
    const start = options.from === 'beginning' ? 0 : this.#context.log.head();
    return tailTopics(this.#context, topics, start, { ...options, closed: this.#closed.signal });
  }

  async last(topic: string, count: number): Promise<readonly BusMessage[]> {
    this.#mustBeOpen();
    if (!(Number.isSafeInteger(count) && count >= 0 && count <= MAX_LAST)) {
      throw new RangeError(`count must be an integer from 0 to ${MAX_LAST}, not ${String(count)}`);
    }
    const { log } = this.#context;
    return log.newest(log.topic(topic).id, count).map((stored) => toBusMessage(topic, stored));
  }

  prune(): Promise<void> {
    return this.#retention.run();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { changes, commits, groups, instance } = this.#context;
    this.#closed.abort();
    this.#retention.stop();
    await Promise.all([...this.#consumers].map((consumer) => consumer.stop()));
    clearInterval(this.#heart);
    if (this.#heart) await commits.submit(plainWrite(() => groups.forgetInstance(instance)));
    await commits.close();
    this.#db.close();
    changes.close();
    endInstance(instance);
  }

  /** Shows other processes that this one lives; starts with the first consumer. */
  #startHeart(): void {
    const { commits, groups, instance, leaseMs, onProblem } = this.#context;
    const beat = (): void => {
      commits
        .submit(plainWrite(() => groups.beat(instance)))
        .catch((error: unknown) => onProblem({ kind: 'heartbeat', error }));
    };
    this.#heart ??= setInterval(beat, leaseMs / 3);
  }

  #mustBeOpen(): void {
    if (this.#closed.signal.aborted) throw new MessageBusUnavailable('the message bus is closed');
  }
}

/**
 * Opens the embedded message bus (DESIGN section 6): one SQLite file, several processes may use it at once.
 * Publishes of one turn share a transaction and an fsync.
 * @throws DatabaseFileError when the file is damaged, of another kind, or from a newer version
 */
export const openEmbeddedMessageBus = (options: EmbeddedMessageBusOptions): EmbeddedMessageBus =>
  new SqliteMessageBus(options);
