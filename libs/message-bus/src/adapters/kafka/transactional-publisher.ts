import type { Producer, Transaction } from 'kafkajs';
import { MessageBusUnavailable, type Publisher, PublisherFenced } from '../../port.ts';
import { KafkaClient } from './client.ts';
import { kindOf, portError } from './failures.ts';
import type { OutgoingRecord } from './messages.ts';
import type { KafkaSettings } from './options.ts';
import { chunksOf, forTheLibrary } from './sender.ts';
import { WholeBatches } from './whole-batch.ts';
import { within } from './within.ts';

/** Encodes and checks: the partition of each message, or why there is none. */
export type Prepare = (
  topic: string,
  messages: Parameters<Publisher['publish']>[1],
) => Promise<readonly OutgoingRecord[]>;

/**
 * The publisher of an id: a producer with the transactional id `bindery.<id>`. Opening it raises the epoch that the broker compares in
 * every write, so a paused earlier one is refused and its open transaction undone (PITFALLS 30). Each publish is one
 * transaction. It never raises the epoch again by itself, which would push out the one that has followed it.
 */
export class TransactionalPublisher implements Publisher {
  readonly #id: string;
  readonly #settings: KafkaSettings;
  readonly #prepare: Prepare;
  readonly #client: KafkaClient;
  readonly #producer: Producer;
  readonly #batches = new WholeBatches();
  readonly #onClose: (publisher: TransactionalPublisher) => void;
  #last: Promise<void> = Promise.resolve();
  #over: Error | undefined;
  #closing: Promise<void> | undefined;

  private constructor(
    id: string,
    settings: KafkaSettings,
    prepare: Prepare,
    onClose: (publisher: TransactionalPublisher) => void,
  ) {
    this.#id = id;
    this.#settings = settings;
    this.#prepare = prepare;
    this.#onClose = onClose;
    this.#client = new KafkaClient(settings);
    this.#producer = this.#client.kafka.producer({
      transactionalId: `bindery.${id}`,
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      transactionTimeout: settings.transactionTimeoutMs,
      createPartitioner: this.#batches.partitioner,
      // The end of the transaction before is awaited this way, hence the short first step.
      retry: { retries: 20, initialRetryTime: 10, maxRetryTime: 1000 },
    });
  }

  /** @throws MessageBusUnavailable */
  static async open(
    id: string,
    settings: KafkaSettings,
    prepare: Prepare,
    onClose: (publisher: TransactionalPublisher) => void,
  ): Promise<TransactionalPublisher> {
    const publisher = new TransactionalPublisher(id, settings, prepare, onClose);
    const { publishTimeoutMs } = settings;
    try {
      await within(publishTimeoutMs, 'opening a publisher', publisher.#takeOver());
    } catch (error) {
      publisher.#client.cut();
      throw portError(`opening the publisher ${id}`, error);
    }
    return publisher;
  }

  publish(topic: string, messages: Parameters<Publisher['publish']>[1]): Promise<void> {
    const publishing = this.#last.then(() => this.#publish(topic, messages));
    this.#last = publishing.catch(() => undefined); // whoever called is told
    return publishing;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#last;
    this.#over ??= new MessageBusUnavailable(`the publisher ${this.#id} is closed`);
    try {
      await within(this.#settings.requestTimeoutMs, 'disconnecting', this.#producer.disconnect());
    } catch (error) {
      this.#settings.onProblem({ kind: 'publish', error });
    }
    this.#client.cut();
    this.#onClose(this);
  }

  /** An empty transaction makes the library ask for the next epoch, and nothing else. */
  async #takeOver(): Promise<void> {
    await this.#producer.connect();
    const transaction = await this.#producer.transaction();
    await transaction.abort();
  }

  async #publish(topic: string, messages: Parameters<Publisher['publish']>[1]): Promise<void> {
    const records = await this.#prepare(topic, messages);
    if (this.#over !== undefined) throw this.#over;
    if (records.length === 0) return;
    const { publishTimeoutMs, onProblem } = this.#settings;
    try {
      await within(publishTimeoutMs, 'publishing', this.#inTransaction(topic, records));
    } catch (error) {
      this.#client.cut();
      this.#over =
        kindOf(error) === 'fenced'
          ? new PublisherFenced(this.#id)
          : new MessageBusUnavailable(`the publisher ${this.#id} must be opened again`, { cause: error });
      onProblem({ kind: 'publish', error });
      throw portError('publishing', error, { topic, publisher: this.#id });
    }
  }

  async #inTransaction(topic: string, records: readonly OutgoingRecord[]): Promise<void> {
    const transaction: Transaction = await this.#producer.transaction();
    for (const chunk of chunksOf(records)) {
      const topicMessages = [{ topic, messages: chunk.map(forTheLibrary) }];
      const batch = { acks: -1, timeout: this.#settings.publishTimeoutMs, topicMessages };
      await this.#batches.send(transaction, batch, () => this.#over !== undefined);
    }
    await transaction.commit();
  }
}
