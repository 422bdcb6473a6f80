import type { Cluster, KafkaMessage } from 'kafkajs';
import { MessageBusUnavailable, UnknownTopic } from '../../port.ts';
import { assignerTelling, KafkaClient } from './client.ts';
import { isProtocolError, kindOf, portError } from './failures.ts';
import type { StoredRecord } from './messages.ts';
import type { KafkaSettings } from './options.ts';
import { refusalOf } from './refusal.ts';
import { pause, within } from './within.ts';

/** Only what transactions have committed. */
const READ_COMMITTED = 1;
const PAGE_BYTES = 4 * 1024 * 1024;

const SETTLING_MS = 2000;
const SETTLING_STEP_MS = 5;

/** A place in a partition. */
export interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** What a fetch gave of one partition. */
export interface Page {
  readonly topic: string;
  readonly partition: number;
  /** Where to go on; beyond the last record, also where that was one of the protocol's own. */
  readonly next: bigint;
  /** Where the committed records of the partition end. */
  readonly end: bigint;
  /** Where all of its records end; transactions that are under way lie in between. */
  readonly high: bigint;
  readonly records: readonly StoredRecord[];
}

type RawRecord = KafkaMessage & {
  readonly isControlRecord?: boolean;
  readonly batchContext?: { readonly producerId: string; readonly inTransaction: boolean };
};

interface FetchAnswer {
  readonly responses: readonly {
    readonly topicName: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly highWatermark: string;
      readonly lastStableOffset?: string;
      readonly abortedTransactions?: readonly { readonly producerId: string; readonly firstOffset: string }[] | null;
      readonly messages: readonly RawRecord[];
    }[];
  }[];
}

/** Drops records of transactions that were undone, and the protocol's own records. */
const visible = (
  records: readonly RawRecord[],
  aborted: readonly { readonly producerId: string; readonly firstOffset: string }[],
): readonly RawRecord[] => {
  const waiting = [...aborted].sort((a, b) => (BigInt(a.firstOffset) < BigInt(b.firstOffset) ? -1 : 1));
  const undone = new Set<string>();
  return records.filter((record) => {
    while (waiting[0] !== undefined && BigInt(record.offset) >= BigInt(waiting[0].firstOffset)) {
      undone.add(waiting[0].producerId);
      waiting.shift();
    }
    const { isControlRecord, batchContext } = record;
    if (isControlRecord === true) {
      if (batchContext !== undefined) undone.delete(batchContext.producerId); // the end of its transaction
      return false;
    }
    return !(batchContext?.inTransaction === true && undone.has(batchContext.producerId));
  });
};

/** Reads without a group: metadata, offsets, records. One fetch at a time is quick; who follows a topic has its own. */
export class Reader {
  readonly #settings: KafkaSettings;
  #client: KafkaClient | undefined;
  #connecting: Promise<Cluster> | undefined;
  #closed = false;

  constructor(settings: KafkaSettings) {
    this.#settings = settings;
  }

  /** Number of partitions of a topic. @throws UnknownTopic, MessageBusUnavailable */
  partitionsOf(topic: string): Promise<number> {
    return this.#call(`looking for the topic ${topic}`, async (cluster) => {
      try {
        await cluster.addMultipleTargetTopics([topic]);
      } catch (error) {
        if (kindOf(error) === 'unknown-topic') throw new UnknownTopic(topic);
        throw error;
      }
      const { length } = cluster.findTopicPartitionMetadata(topic);
      if (length === 0) throw new UnknownTopic(topic);
      return length;
    });
  }

  /** Resolves when a broker has answered. @throws MessageBusUnavailable, KafkaRefusal */
  reach(): Promise<void> {
    return this.#call('reaching the brokers', async () => undefined);
  }

  /** First or next offset of each partition, by its number; the next one is that of readers of committed records. */
  offsets(topic: string, which: 'first' | 'next'): Promise<ReadonlyMap<number, bigint>> {
    return this.#call(`asking for the offsets of ${topic}`, async (cluster) => {
      await cluster.addMultipleTargetTopics([topic]);
      const partitions = cluster
        .findTopicPartitionMetadata(topic)
        .map(({ partitionId }) => ({ partition: partitionId }));
      if (partitions.length === 0) throw new UnknownTopic(topic);
      const found = await cluster.fetchTopicsOffset([{ topic, partitions, fromBeginning: which === 'first' }]);
      const offsets = found.flatMap((each) => each.partitions);
      return new Map(offsets.map(({ partition, offset }) => [partition, BigInt(offset)]));
    });
  }

  /**
   * Where each partition ends, after transactions that are just being completed: a publish is acknowledged a moment
   * before readers see it. One that hangs is not waited for longer than `SETTLING_MS`.
   */
  async ends(topic: string): Promise<ReadonlyMap<number, bigint>> {
    const settled = AbortSignal.timeout(SETTLING_MS);
    let ends = await this.offsets(topic, 'next');
    for (;;) {
      const places = [...ends].map(([partition, offset]) => ({ topic, partition, offset }));
      const pages = await this.fetch(places, 0, places.length);
      ends = new Map([...ends, ...pages.map(({ partition, end }): [number, bigint] => [partition, end])]);
      if (settled.aborted || pages.every(({ end, high }) => end >= high)) return ends;
      await pause(SETTLING_STEP_MS, settled);
    }
  }

  /** Offsets that a group has stored, by partition; those without one are left out. */
  committed(group: string, topic: string): Promise<ReadonlyMap<number, bigint>> {
    return this.#call(`asking for the position of ${group}`, async (cluster) => {
      await cluster.addMultipleTargetTopics([topic]);
      const partitions = cluster
        .findTopicPartitionMetadata(topic)
        .map(({ partitionId }) => ({ partition: partitionId, offset: '0' }));
      const coordinator = await cluster.findGroupCoordinator({ groupId: group });
      const { responses } = await coordinator.offsetFetch({ groupId: group, topics: [{ topic, partitions }] });
      const offsets = responses.flatMap((each) => each.partitions);
      return new Map(
        offsets
          .map(({ partition, offset }): [number, bigint] => [partition, BigInt(offset)])
          .filter(([, offset]) => offset >= 0n),
      );
    });
  }

  /** Records from the places on; a broker waits up to `waitMs` when it has none. */
  fetch(places: readonly Place[], waitMs: number, bytes = PAGE_BYTES): Promise<readonly Page[]> {
    if (places.length === 0) return Promise.resolve([]);
    return this.#call('reading', async (cluster) => {
      await cluster.addMultipleTargetTopics([...new Set(places.map(({ topic }) => topic))]);
      const byNode = new Map<string, Place[]>();
      for (const place of places) {
        const [node] = Object.keys(cluster.findLeaderForPartitions(place.topic, [place.partition]));
        if (node === undefined) throw new UnknownTopic(place.topic);
        byNode.set(node, [...(byNode.get(node) ?? []), place]);
      }
      const pages = await Promise.all(
        [...byNode].map(([node, wanted]) => this.#fetchFrom(cluster, node, wanted, waitMs, bytes)),
      );
      return pages.flat();
    });
  }

  close(): void {
    this.#closed = true;
    this.#reset();
  }

  async #fetchFrom(
    cluster: Cluster,
    nodeId: string,
    places: readonly Place[],
    waitMs: number,
    bytes: number,
  ): Promise<readonly Page[]> {
    const broker = await cluster.findBroker({ nodeId });
    const topics = [...Map.groupBy(places, ({ topic }) => topic)].map(([topic, wanted]) => ({
      topic,
      partitions: wanted.map(({ partition, offset }) => ({
        partition,
        fetchOffset: String(offset),
        maxBytes: Math.max(1, Math.floor(bytes / places.length)),
      })),
    }));
    const request = { maxWaitTime: waitMs, minBytes: 1, maxBytes: bytes, isolationLevel: READ_COMMITTED, topics };
    const answer: FetchAnswer = await broker.fetch({ ...request, rackId: '' });
    return answer.responses.flatMap(({ topicName, partitions }) =>
      partitions.flatMap(({ partition, abortedTransactions, messages, highWatermark, lastStableOffset }) => {
        const place = places.find((each) => each.topic === topicName && each.partition === partition);
        if (place === undefined) return [];
        const wanted = messages.filter(({ offset }) => BigInt(offset) >= place.offset);
        const records = visible(wanted, abortedTransactions ?? []).map((record) => ({
          topic: topicName,
          partition,
          offset: BigInt(record.offset),
          record,
        }));
        const last = wanted.at(-1);
        const next = last ? BigInt(last.offset) + 1n : place.offset;
        return [
          {
            topic: topicName,
            partition,
            next,
            end: BigInt(lastStableOffset ?? highWatermark),
            high: BigInt(highWatermark),
            records,
          },
        ];
      }),
    );
  }

  /** Tries a second time on a fresh connection: leaders move and connections age. */
  async #call<T>(what: string, work: (cluster: Cluster) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      if (this.#closed) throw new MessageBusUnavailable('the message bus is closed');
      const { requestTimeoutMs } = this.#settings;
      const connecting = this.#cluster();
      try {
        const deadline = AbortSignal.timeout(requestTimeoutMs);
        return await within(
          requestTimeoutMs,
          what,
          connecting.then(async (cluster) => {
            for (;;) {
              try {
                return await work(cluster);
              } catch (error) {
                // A broker that has just started, or has just been told of a topic, does not know its leader yet.
                const settling = isProtocolError(error, 'LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION');
                if (!settling || deadline.aborted) throw error;
                await pause(50, deadline);
                await cluster.refreshMetadata();
              }
            }
          }),
        );
      } catch (error) {
        if (error instanceof UnknownTopic) throw error;
        if (this.#connecting === connecting) this.#reset();
        const hopeless = kindOf(error) !== 'unavailable' || refusalOf(error) !== undefined;
        if (attempt >= 2 || hopeless) throw portError(what, error);
      }
    }
  }

  #cluster(): Promise<Cluster> {
    this.#connecting ??= this.#connect();
    return this.#connecting;
  }

  async #connect(): Promise<Cluster> {
    const client = new KafkaClient(this.#settings);
    this.#client = client;
    let cluster: Cluster | undefined;
    const consumer = client.kafka.consumer({
      groupId: 'not-joined',
      allowAutoTopicCreation: false,
      partitionAssigners: [
        assignerTelling((told) => {
          cluster = told;
        }),
      ],
    });
    if (cluster === undefined) throw new MessageBusUnavailable('the client library has changed: no cluster was told');
    await consumer.connect();
    await cluster.refreshMetadata();
    return cluster;
  }

  #reset(): void {
    this.#client?.cut();
    this.#client = undefined;
    this.#connecting = undefined;
  }
}
