import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLUSTER_REQUESTS } from './cluster-requests.ts';
import { Connection } from './connection.ts';
import { type KafkaFault, KafkaFaults } from './faults.ts';
import { GROUP_REQUESTS } from './group-requests.ts';
import { Groups } from './groups.ts';
import { LOG_REQUESTS } from './log-requests.ts';
import type { Api, DoubleNode } from './requests.ts';
import { DoubleState, type Place } from './state.ts';
import { Transactions } from './transactions.ts';

const HOST = '127.0.0.1';
const MAX_BYTES = 256 * 1024 * 1024;
const APIS: readonly Api[] = [...LOG_REQUESTS, ...GROUP_REQUESTS, ...CLUSTER_REQUESTS];

export interface KafkaDoubleOptions {
  /** Where it listens; 0 (default): a free port, kept over restarts. */
  readonly port?: number;
  /** Where clients are told to connect, when a proxy stands before it (the first broker). Default: its own port. */
  readonly advertisedPort?: number;
  /** How many brokers it is, 1 to 9; all of them see one log, partitions are led in turns. Default 1. */
  readonly brokers?: number;
  /** Where the log is. Default: a folder that goes away with `dispose`. */
  readonly directory?: string;
  /** Of all batches together, which it keeps in memory; more is refused. Default 256 MiB. */
  readonly maxBytes?: number;
}

/**
 * A Kafka broker, or several, as far as `kafkajs` asks one: it speaks the wire protocol, keeps a durable log, checks
 * checksums, sequences of idempotent producers, epochs and transactions, and leads groups by the classic protocol. Unlike
 * a real one it does what goes wrong on demand: `inject`, `lead`.
 *
 * What it lacks: replicas (its brokers share one log) and elections, compaction and retention, the members of groups after a restart (they must join
 * again, offsets stay), quotas, security, static members, the offsets of a consumer within a transaction
 * (`AddOffsetsToTxn`, `TxnOffsetCommit`), and administration beyond creating and deleting topics
 * and deleting records (which it forgets, but keeps in its folder).
 */
export class KafkaDouble {
  readonly #directory: string;
  readonly #options: KafkaDoubleOptions;
  readonly #faults = new KafkaFaults();
  readonly #connections = new Set<Connection>();
  readonly #counts = new Map<string, number>();
  readonly #led = new Map<string, number>();
  #ports: readonly number[];
  #running:
    | {
        readonly servers: readonly Server[];
        readonly state: DoubleState;
        readonly groups: Groups;
        readonly transactions: Transactions;
      }
    | undefined;

  private constructor(directory: string, options: KafkaDoubleOptions) {
    this.#directory = directory;
    this.#options = options;
    this.#ports = [options.port ?? 0, ...Array.from({ length: (options.brokers ?? 1) - 1 }, () => 0)];
  }

  /** Starts one. */
  static async start(options: KafkaDoubleOptions = {}): Promise<KafkaDouble> {
    const double = new KafkaDouble(options.directory ?? (await mkdtemp(join(tmpdir(), 'kafka-double-'))), options);
    await double.#listen();
    return double;
  }

  /** Of its first broker. */
  get port(): number {
    return this.#ports[0] ?? 0;
  }

  /** As `KAFKA_BROKERS` has it. */
  get brokers(): string {
    return this.#nodes()
      .map(({ port }) => `${HOST}:${port}`)
      .join(',');
  }

  /** Moves a partition to a broker, numbered from 1; the one before refuses what is asked of it from now on. */
  lead(topic: string, partition: number, node: number): void {
    this.#led.set(`${topic}/${partition}`, node);
  }

  /** From now on this goes wrong. Faults of the same requests come one after the other. */
  inject(fault: KafkaFault): void {
    this.#faults.add(fault);
  }

  clearFaults(): void {
    this.#faults.clear();
  }

  /** Injected faults that have not been used up. */
  get faultsLeft(): number {
    return this.#faults.count;
  }

  /** How many requests of a kind have come since the start. */
  requests(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Members of a group now. */
  members(group: string): number {
    return this.#running?.groups.memberCount(group) ?? 0;
  }

  /** Names of all topics. */
  get topics(): readonly string[] {
    return [...(this.#running?.state.topics.keys() ?? [])];
  }

  /** How many offsets a partition has, with those of markers. */
  endOf(topic: string, partition: number): number {
    return Number(this.#running?.state.partition({ topic, partition })?.end ?? 0n);
  }

  /** Ends it without warning: connections are cut, members of groups forgotten; the log stays. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined) return;
    for (const connection of this.#connections) connection.cut();
    const closed = running.servers.map(async (server) => {
      const gone = once(server, 'close');
      server.close();
      await gone;
    });
    running.transactions.close();
    running.groups.close();
    running.state.close();
    await Promise.all(closed);
  }

  /** Ends it if it runs, and starts it on the same port with its log. */
  async restart(): Promise<void> {
    await this.stop();
    await this.#listen();
  }

  /** Cuts all connections; it goes on. */
  disconnectAll(): void {
    for (const connection of this.#connections) connection.cut();
  }

  /** Stops it, and removes its folder if it made it. */
  async dispose(): Promise<void> {
    await this.stop();
    if (this.#options.directory === undefined) await rm(this.#directory, { recursive: true, force: true });
  }

  async #listen(): Promise<void> {
    const state = new DoubleState(this.#directory, this.#options.maxBytes ?? MAX_BYTES);
    const groups = new Groups();
    const transactions = new Transactions(state);
    const servers: Server[] = [];
    const ports: number[] = [];
    for (const [index, wanted] of this.#ports.entries()) {
      const server = createServer({ noDelay: true }, (socket) => this.#accept(socket, index + 1));
      server.listen(wanted, HOST);
      await once(server, 'listening');
      const address = server.address();
      ports.push(address !== null && typeof address === 'object' ? address.port : wanted);
      servers.push(server);
    }
    this.#ports = ports;
    this.#running = { servers, state, groups, transactions };
  }

  #nodes(): readonly DoubleNode[] {
    const { advertisedPort } = this.#options;
    return this.#ports.map((port, index) => ({
      id: index + 1,
      port: index === 0 ? (advertisedPort ?? port) : port,
    }));
  }

  #accept(socket: Socket, node: number): void {
    const running = this.#running;
    if (running === undefined) {
      socket.destroy();
      return;
    }
    const { state, groups, transactions } = running;
    const nodes = this.#nodes();
    const leaderOf = ({ topic, partition }: Place): number =>
      this.#led.get(`${topic}/${partition}`) ?? (partition % nodes.length) + 1;
    const connection = new Connection(socket, {
      apis: APIS,
      broker: { state, groups, transactions, node, nodes, leaderOf },
      faults: this.#faults.of(node),
      count: (name) => this.#counts.set(name, this.requests(name) + 1),
    });
    this.#connections.add(connection);
    socket.once('close', () => this.#connections.delete(connection));
  }
}
