import type { Producer } from 'kafkajs';
import { MessageBusUnavailable } from '../../port.ts';
import { KafkaClient } from './client.ts';
import { portError } from './failures.ts';
import type { OutgoingRecord } from './messages.ts';
import type { KafkaSettings } from './options.ts';
import { WholeBatches } from './whole-batch.ts';
import { within } from './within.ts';

/** Of one request; the library makes one batch per partition of it, which a broker takes up to about 1 MB by default. */
const CHUNK_BYTES = 800_000;
/** What may wait to be sent; more is refused, so that memory stays bounded while the broker is away. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

interface Job {
  readonly topic: string;
  readonly records: readonly OutgoingRecord[];
  readonly offsets: (bigint | undefined)[];
  sent: number;
  readonly resolve: (offsets: readonly (bigint | undefined)[]) => void;
  readonly reject: (error: Error) => void;
}

interface Chunk {
  readonly job: Job;
  readonly from: number;
  readonly records: readonly OutgoingRecord[];
}

/** As the library wants it; the partition is ours, the library has no say in it. */
export const forTheLibrary = ({ key, value, headers, partition }: OutgoingRecord) => ({
  key,
  value,
  headers: { ...headers },
  partition,
});

/** Splits records into requests of a bounded size, in order. */
export const chunksOf = (records: readonly OutgoingRecord[], most = CHUNK_BYTES): readonly OutgoingRecord[][] => {
  const chunks: OutgoingRecord[][] = [];
  let bytes = 0;
  for (const record of records) {
    const last = chunks.at(-1);
    if (last === undefined || bytes + record.bytes > most) {
      chunks.push([record]);
      bytes = record.bytes;
    } else {
      last.push(record);
      bytes += record.bytes;
    }
  }
  return chunks;
};

/**
 * One idempotent producer (PITFALLS 20-22): all replicas acknowledge, one request under way, and everything that waits
 * goes with the next one. Whatever fails or takes too long leaves the outcome unknown: the producer is cut off and
 * replaced, and the caller is told that it may publish again.
 */
export class Sender {
  readonly #settings: KafkaSettings;
  readonly #batches = new WholeBatches();
  readonly #waiting: Job[] = [];
  #waitingBytes = 0;
  #client: KafkaClient | undefined;
  #producer: Producer | undefined;
  #sending: Promise<void> | undefined;
  #closed = false;

  constructor(settings: KafkaSettings) {
    this.#settings = settings;
  }

  /** Resolves with the offsets when all replicas have the records. @throws MessageBusUnavailable */
  send(topic: string, records: readonly OutgoingRecord[]): Promise<readonly (bigint | undefined)[]> {
    if (this.#closed) return Promise.reject(new MessageBusUnavailable('the message bus is closed'));
    if (records.length === 0) return Promise.resolve([]);
    const bytes = records.reduce((sum, record) => sum + record.bytes, 0);
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      return Promise.reject(new MessageBusUnavailable('too many messages wait to be published'));
    }
    this.#waitingBytes += bytes;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ topic, records, offsets: [], sent: 0, resolve, reject });
      this.#sending ??= this.#sendAll();
    });
  }

  /** Sends what waits and ends. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#sending;
    const producer = this.#producer;
    if (producer !== undefined) {
      try {
        await within(this.#settings.requestTimeoutMs, 'disconnecting', producer.disconnect());
      } catch (error) {
        this.#settings.onProblem({ kind: 'publish', error });
      }
    }
    this.#discard();
  }

  async #sendAll(): Promise<void> {
    await Promise.resolve(); // whoever publishes in the same turn shares the request
    for (;;) {
      const chunks = this.#nextRequest();
      if (chunks.length === 0) {
        this.#sending = undefined; // in the same step as the look at the queue: nobody is left waiting in it
        return;
      }
      try {
        await this.#sendNow(chunks);
      } catch (error) {
        this.#fail(chunks, error);
      }
    }
  }

  /** Takes from the head of the queue as much as a request may hold. */
  #nextRequest(): readonly Chunk[] {
    const chunks: Chunk[] = [];
    let bytes = 0;
    for (const job of this.#waiting) {
      const records: OutgoingRecord[] = [];
      for (const record of job.records.slice(job.sent)) {
        if (bytes > 0 && bytes + record.bytes > CHUNK_BYTES) break;
        bytes += record.bytes;
        records.push(record);
      }
      if (records.length > 0) chunks.push({ job, from: job.sent, records });
      if (job.sent + records.length < job.records.length) break;
    }
    return chunks;
  }

  async #sendNow(chunks: readonly Chunk[]): Promise<void> {
    const { publishTimeoutMs } = this.#settings;
    const topicMessages = [...Map.groupBy(chunks, ({ job }) => job.topic)].map(([topic, parts]) => ({
      topic,
      messages: parts.flatMap(({ records }) => records.map(forTheLibrary)),
    }));
    const batch = { acks: -1, timeout: publishTimeoutMs, topicMessages };
    const answer = await within(
      publishTimeoutMs,
      'publishing',
      this.#connected().then((producer) => this.#batches.send(producer, batch, () => this.#producer !== producer)),
    );
    const next = new Map<string, bigint>();
    for (const { topicName, partition, baseOffset } of answer) {
      if (baseOffset !== undefined) next.set(`${topicName}/${partition}`, BigInt(baseOffset));
    }
    for (const { job, records } of chunks) {
      for (const { partition } of records) {
        const place = `${job.topic}/${partition}`;
        const offset = next.get(place);
        job.offsets.push(offset);
        if (offset !== undefined) next.set(place, offset + 1n);
      }
      job.sent += records.length;
      if (job.sent === job.records.length) this.#done(job).resolve(job.offsets);
    }
  }

  #fail(chunks: readonly Chunk[], error: unknown): void {
    this.#discard();
    this.#settings.onProblem({ kind: 'publish', error });
    for (const { job } of chunks) this.#done(job).reject(portError('publishing', error, { topic: job.topic }));
  }

  #done(job: Job): Job {
    this.#waiting.splice(this.#waiting.indexOf(job), 1);
    this.#waitingBytes -= job.records.reduce((sum, record) => sum + record.bytes, 0);
    return job;
  }

  async #connected(): Promise<Producer> {
    if (this.#producer !== undefined) return this.#producer;
    const client = new KafkaClient(this.#settings);
    this.#client = client;
    const producer = client.kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: this.#batches.partitioner,
      // Until our own deadline: within one life of a producer the broker drops what it has already.
      retry: { retries: 20, initialRetryTime: 100, maxRetryTime: 1000 },
    });
    await producer.connect();
    this.#producer = producer;
    return producer;
  }

  #discard(): void {
    this.#client?.cut();
    this.#client = undefined;
    this.#producer = undefined;
  }
}
