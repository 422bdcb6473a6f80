import type { Broker, Consumer, ConsumerGroupJoinEvent, EachBatchPayload } from 'kafkajs';
import { MessageBusUnavailable } from '../../port.ts';
import { assignerTelling, KafkaClient } from './client.ts';
import { isProtocolError } from './failures.ts';
import type { Handling } from './handling.ts';
import { Joins, type Seat } from './joins.ts';
import type { StoredRecord } from './messages.ts';
import type { KafkaSettings } from './options.ts';
import type { Parking } from './parking.ts';
import { PartitionRunner } from './partition-runner.ts';
import type { Reader } from './reader.ts';
import { Starts } from './starts.ts';
import type { Topics } from './topics.ts';
import { backOff, pause, within } from './within.ts';

/** Of one fetch and partition; a larger single message comes all the same. */
const PARTITION_BYTES = 1024 * 1024;
const FETCH_BYTES = 10 * 1024 * 1024;
/** How long an aborted handler may still take before its partition is given up. */
const ABORT_GRACE_MS = 1000;
const RETRY_MS = 100;
const MAX_RETRY_MS = 2000;
/** What a coordinator says that has just taken over the group, or given it away. */
const NOT_READY = ['GROUP_LOAD_IN_PROGRESS', 'NOT_COORDINATOR_FOR_GROUP', 'GROUP_COORDINATOR_NOT_AVAILABLE'];

export interface MembershipParts {
  readonly group: string;
  readonly topics: readonly string[];
  readonly from: 'beginning' | 'end';
  readonly handling: Handling;
  readonly settings: KafkaSettings;
  readonly catalogue: Topics;
  readonly reader: Reader;
  readonly parking: Parking;
  /** Its name in an earlier life that ended in a crash: the group would wait for it until its session has run out. */
  readonly former: string | undefined;
  /** It works on its partitions, or does so again. */
  readonly onReady: () => void;
}

/** The library has the request, though its types do not. */
interface Leaving {
  leaveGroup(request: { readonly groupId: string; readonly memberId: string }): Promise<unknown>;
}
const canLeave = (broker: Broker): broker is Broker & Leaving =>
  'leaveGroup' in broker && typeof broker.leaveGroup === 'function';

const slot = (topic: string, partition: number): string => `${topic}/${partition}`;

/**
 * One life of a consumer of the library in its group. The library fetches, keeps the membership alive and finds out about
 * rebalances; what it fetches goes to a runner per partition, so a slow handler holds up neither heartbeats nor other
 * partitions (PITFALLS 18). Before the library joins the group anew, the runners finish the message in hand and their
 * positions are stored. It never restarts by itself: a crash ends this life (PITFALLS 19).
 */
export class Membership {
  /** Resolves with the reason when this life is over. */
  readonly over: Promise<unknown>;
  readonly #parts: MembershipParts;
  readonly #client: KafkaClient;
  readonly #consumer: Consumer;
  readonly #starts: Starts;
  readonly #joins = new Joins({
    // Less than the session, as no heartbeats are sent meanwhile.
    prepare: () => this.#drain(this.#parts.settings.sessionTimeoutMs * 0.6),
    found: async (coordinator, seat) => {
      await this.#commitAt(coordinator, seat);
      await this.#leaveAsFormer(coordinator);
    },
  });
  readonly #runners = new Map<string, PartitionRunner>();
  readonly #handled = new Map<string, { readonly topic: string; readonly partition: number; next: bigint }>();
  readonly #end: (reason: unknown) => void;
  readonly #ended = new AbortController();
  #life = 0;
  #working = false;
  #lastBeat = performance.now();
  #committing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopping: Promise<void> | undefined;
  #former: string | undefined;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
    const { settings, group } = parts;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.over = promise;
    this.#end = resolve;
    this.#former = parts.former;
    this.#client = new KafkaClient(settings);
    this.#consumer = this.#client.kafka.consumer({
      groupId: group,
      allowAutoTopicCreation: false,
      sessionTimeout: settings.sessionTimeoutMs,
      rebalanceTimeout: settings.rebalanceTimeoutMs,
      heartbeatInterval: settings.heartbeatMs,
      maxWaitTimeInMs: settings.fetchWaitMs,
      minBytes: 1,
      maxBytesPerPartition: PARTITION_BYTES,
      maxBytes: FETCH_BYTES,
      partitionAssigners: [assignerTelling((cluster) => this.#joins.watch(cluster))],
      retry: { retries: 4, initialRetryTime: 100, maxRetryTime: 1000, restartOnFailure: async () => false },
    });
    this.#starts = new Starts(parts, this.#consumer);
  }

  async run(): Promise<void> {
    const { topics, from, settings } = this.#parts;
    const { events } = this.#consumer;
    const beat = (): void => {
      this.#lastBeat = performance.now();
    };
    this.#consumer.on(events.HEARTBEAT, beat);
    this.#consumer.on(events.GROUP_JOIN, ({ payload }: ConsumerGroupJoinEvent) => {
      beat();
      this.#joins.done();
      this.#joined(payload.memberAssignment);
    });
    this.#consumer.on(events.CRASH, ({ payload }) => this.#end(payload.error));
    this.#consumer.on(events.END_BATCH_PROCESS, ({ payload }) => {
      if (payload.batchSize > 0 || !this.#working) return; // those came to `eachBatch`
      this.#runners.get(slot(payload.topic, payload.partition))?.push([], BigInt(payload.lastOffset) + 1n);
    });
    await within(
      settings.connectTimeoutMs + 2 * settings.requestTimeoutMs,
      'connecting a consumer',
      this.#consumer
        .connect()
        .then(() => this.#consumer.subscribe({ topics: [...topics], fromBeginning: from === 'beginning' })),
    );
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: 100, // nothing waits in there
      eachBatch: (payload) => this.#take(payload),
    });
  }

  /** Name in the group; after a crash the next life leaves by it. */
  get memberId(): string | undefined {
    return this.#joins.memberId ?? this.#former;
  }

  /** Wakes the runners: the table of parked keys has changed. */
  wake(): void {
    for (const runner of this.#runners.values()) runner.wake();
  }

  /** Ends after the messages in hand, stores the positions and leaves the group. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const { settings, group } = this.#parts;
    await this.#drain(settings.stopTimeoutMs);
    await this.#commit();
    this.#handled.clear();
    this.#ended.abort();
    try {
      await within(settings.stopTimeoutMs, 'leaving the group', this.#consumer.disconnect());
    } catch (error) {
      settings.onProblem({ kind: 'consumer', group, error }); // the session runs out instead
    }
    this.#client.cut();
    this.#end(new MessageBusUnavailable('the consumer has stopped'));
  }

  /**
   * Stores what was handled before the group is joined anew: at the coordinator that was just found, as the one before may
   * have handed over, and once, as a repetition might come after those of the next to have the partitions.
   * @throws whatever says that the coordinator is not ready: it would not let anyone join either
   */
  async #commitAt(coordinator: Broker, seat: Seat | undefined): Promise<void> {
    const { settings, group } = this.#parts;
    if (seat === undefined || this.#handled.size === 0) return;
    const topics = [...Map.groupBy(this.#handled.values(), ({ topic }) => topic)].map(([topic, positions]) => ({
      topic,
      partitions: positions.map(({ partition, next }) => ({ partition, offset: String(next) })),
    }));
    const { memberId, generationId } = seat;
    const request = { groupId: group, memberId, groupGenerationId: generationId, topics };
    try {
      await within(settings.requestTimeoutMs, 'storing positions', coordinator.offsetCommit(request));
    } catch (error) {
      if (isProtocolError(error, ...NOT_READY)) throw error;
      this.#trouble(error);
    }
    this.#handled.clear();
  }

  async #leaveAsFormer(coordinator: Broker): Promise<void> {
    const memberId = this.#former;
    if (memberId === undefined || !canLeave(coordinator)) return;
    try {
      await coordinator.leaveGroup({ groupId: this.#parts.group, memberId });
    } catch (error) {
      if (!isProtocolError(error, 'UNKNOWN_MEMBER_ID')) throw error;
    }
    this.#former = undefined;
  }

  async #drain(ms: number): Promise<void> {
    this.#life += 1;
    this.#working = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const runners = [...this.#runners.values()];
    this.#runners.clear();
    for (const runner of runners) runner.stop();
    const done = Promise.all(runners.map((runner) => runner.done));
    try {
      await within(ms, 'finishing the messages in hand', done);
    } catch (error) {
      this.#trouble(error);
      for (const runner of runners) runner.abort();
      await within(ABORT_GRACE_MS, 'aborting handlers', done).catch((late: unknown) => this.#trouble(late));
    }
    await this.#committing;
  }

  #joined(assignment: Readonly<Record<string, readonly number[]>>): void {
    // It came too late: who leaves begins nothing.
    if (this.#stopping !== undefined) return;
    this.#life += 1;
    const paused = Object.entries(assignment).map(([topic, partitions]) => ({ topic, partitions: [...partitions] }));
    this.#consumer.pause(paused);
    void this.#begin(this.#life, assignment);
  }

  /** Finds out where to start and begins; again and again until it works or the group is joined anew. */
  async #begin(life: number, assignment: Readonly<Record<string, readonly number[]>>): Promise<void> {
    const { parking, reader, settings, onReady } = this.#parts;
    for (let failures = 0; this.#life === life && !this.#ended.signal.aborted; ) {
      try {
        const starts = await this.#starts.of(assignment);
        await within(settings.requestTimeoutMs, 'reading the parked keys', parking.keys.catchUp(reader));
        if (this.#life !== life) return;
        for (const start of starts) {
          this.#consumer.seek({ ...start, offset: String(start.offset) });
          this.#runners.set(slot(start.topic, start.partition), this.#runner(start));
        }
        this.#working = true;
        this.#consumer.resume(starts.map(({ topic, partition }) => ({ topic, partitions: [partition] })));
        return onReady();
      } catch (error) {
        if (this.#life !== life) return;
        this.#trouble(error);
        failures += 1;
        await pause(backOff(RETRY_MS, MAX_RETRY_MS, failures, settings.random), this.#ended.signal);
      }
    }
  }

  #runner(start: {
    readonly topic: string;
    readonly partition: number;
    readonly offset: bigint;
    readonly partitions: number;
  }): PartitionRunner {
    const { topic, partition, partitions, offset } = start;
    const place = { topic, partition };
    return new PartitionRunner({
      ...place,
      partitions,
      start: offset,
      handling: this.#parts.handling,
      parking: this.#parts.parking,
      onHandled: (next) => {
        this.#handled.set(slot(topic, partition), { ...place, next });
        this.#commitSoon();
      },
      onRoom: () => this.#consumer.resume([{ topic, partitions: [partition] }]),
      mayWork: (signal) => this.#mayWork(signal),
      onTrouble: (error) => this.#trouble(error),
    });
  }

  /** A process that was paused past its session has lost its partitions, even if nobody has told it yet (PITFALLS 24). */
  async #mayWork(signal: AbortSignal): Promise<void> {
    const { sessionTimeoutMs, heartbeatMs } = this.#parts.settings;
    while (performance.now() - this.#lastBeat > sessionTimeoutMs && !signal.aborted)
      await pause(heartbeatMs / 4, signal);
  }

  async #take({ batch, resolveOffset, isRunning, isStale }: EachBatchPayload): Promise<void> {
    const { topic, partition } = batch;
    const runner = this.#runners.get(slot(topic, partition));
    if (!this.#working || runner === undefined || !isRunning() || isStale()) return;
    const last = batch.lastOffset();
    resolveOffset(last);
    const records = batch.messages.map(
      (record): StoredRecord => ({ topic, partition, offset: BigInt(record.offset), record }),
    );
    if (!runner.push(records, BigInt(last) + 1n)) this.#consumer.pause([{ topic, partitions: [partition] }]);
  }

  /** What is handled meanwhile is stored with it. */
  #commitSoon(): void {
    if (this.#handled.size === 0 || !this.#working) return; // what is left then is stored before the next join
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#commit();
    }, this.#parts.settings.commitEveryMs);
  }

  /** Stores what has been handled; one request at a time. Never rejects: what is not stored comes again. */
  #commit(): Promise<void> {
    if (this.#handled.size === 0) return Promise.resolve();
    this.#committing ??= this.#commitNow().finally(() => {
      this.#committing = undefined;
      this.#commitSoon();
    });
    return this.#committing;
  }

  async #commitNow(): Promise<void> {
    const positions = [...this.#handled.values()];
    this.#handled.clear();
    try {
      await within(
        this.#parts.settings.requestTimeoutMs,
        'storing positions',
        this.#consumer.commitOffsets(
          positions.map(({ topic, partition, next }) => ({ topic, partition, offset: String(next) })),
        ),
      );
    } catch (error) {
      this.#trouble(error);
      for (const position of positions) {
        const name = slot(position.topic, position.partition);
        if (!this.#handled.has(name)) this.#handled.set(name, position);
      }
    }
  }

  #trouble(error: unknown): void {
    const { settings, group } = this.#parts;
    if (!this.#ended.signal.aborted) settings.onProblem({ kind: 'consumer', group, error });
  }
}
