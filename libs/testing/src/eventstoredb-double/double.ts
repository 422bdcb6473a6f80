import { createServer } from 'node:net';
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import { Server, ServerCredentials, type sendUnaryData } from '@grpc/grpc-js';
import { Faults } from './faults.ts';
import { EventLog, type LogOptions } from './log.ts';
import { type Member, Role } from './role.ts';
import { type DoubleCounters, StreamsHandlers } from './streams-service.ts';
import { type User, Users } from './users.ts';
import { MOST_EVENT_BYTES, maxAppendBytesOf, type ServerVersion } from './versions.ts';

export interface DoubleOptions extends LogOptions {
  /** 0 (default) for a free one. */
  readonly port?: number;
  /** Which server it behaves like, where they differ. Default 24.10. */
  readonly version?: ServerVersion;
  /** `MaxAppendSize` of the server, in bytes; what its version has by default. */
  readonly maxAppendBytes?: number;
  /** Certificate and key, as PEM. Without TLS by default. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** By name; everybody may do everything by default. */
  readonly users?: Readonly<Record<string, User>>;
}

const HOST = '127.0.0.1';
const { VNodeState } = gossip.MemberInfo;
const STATES = { leader: VNodeState.LEADER, follower: VNodeState.FOLLOWER } as const;
/** What Kestrel allows per connection by default, and the server does not change. */
const MAX_STREAMS = 100;

const { StreamsService } = streamsGrpc;

/** Stored events are sent as the bytes that they are. */
const streamsService = {
  ...StreamsService,
  read: {
    ...StreamsService.read,
    responseSerialize: (message: streams.ReadResp | Buffer): Buffer =>
      Buffer.isBuffer(message) ? message : Buffer.from(message.serializeBinary()),
  },
};

const supportedMethods = (version: ServerVersion): features.SupportedMethods =>
  new features.SupportedMethods()
    .setEventStoreServerVersion(`${version}.0`)
    .setMethodsList(
      ['read', 'append', 'delete', 'tombstone', 'batchappend'].map((name) =>
        new features.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name),
      ),
    );

const clusterOf = (members: readonly Member[]): gossip.ClusterInfo =>
  new gossip.ClusterInfo().setMembersList(
    members.map(({ host, port, state, alive }) =>
      new gossip.MemberInfo()
        .setInstanceId(new shared.UUID().setString(crypto.randomUUID()))
        .setState(STATES[state])
        .setIsAlive(alive)
        .setHttpEndPoint(new gossip.EndPoint().setAddress(host).setPort(port)),
    ),
  );

/**
 * Serves the protocol of an EventStoreDB of one node: appends, reads, subscriptions, deletes, from a file that survives
 * `kill -9`, with faults on demand. What it leaves out (links, projections, persistent subscriptions, access lists of
 * streams, scavenging, batch append, replication) the product does not use. Its rules were written from the behaviour of the
 * real server, as documented and as its source has it; the conformance suite runs against both (PITFALLS 65).
 */
export class EventStoreDbDouble {
  readonly faults = new Faults();
  readonly log: EventLog;
  /** Leader by default. */
  readonly role = new Role(() => ({ host: HOST, port: this.#port }));
  readonly #secure: boolean;
  readonly #handlers: StreamsHandlers;
  readonly #server: Server;
  #port = 0;

  private constructor(log: EventLog, options: DoubleOptions) {
    const { version = '24.10', maxAppendBytes = maxAppendBytesOf(version) } = options;
    this.log = log;
    this.#secure = options.tls !== undefined;
    const users = new Users(options.users);
    this.#handlers = new StreamsHandlers(log, this.faults, { version, maxAppendBytes, users, role: this.role });
    this.#server = new Server({
      'grpc.max_receive_message_length': MOST_EVENT_BYTES,
      'grpc.max_concurrent_streams': MAX_STREAMS,
    });
    this.#server.addService(streamsService, this.#handlers.implementation);
    this.#server.addService(featuresGrpc.ServerFeaturesService, {
      getSupportedMethods: (_call: unknown, answer: sendUnaryData<features.SupportedMethods>) =>
        answer(null, supportedMethods(version)),
    });
    this.#server.addService(gossipGrpc.GossipService, {
      read: (_call: unknown, answer: sendUnaryData<gossip.ClusterInfo>) => {
        this.#handlers.counters.gossips += 1;
        const fault = this.faults.take('gossip');
        const refusal = fault && Faults.refusal(fault.kind, this.role.leader);
        if (refusal === undefined) answer(null, clusterOf(this.role.members));
        else answer(refusal, null);
      },
    });
  }

  /** Opens the log and listens. */
  static async start(options: DoubleOptions): Promise<EventStoreDbDouble> {
    const double = new EventStoreDbDouble(await EventLog.open(options), options);
    double.#port = await new Promise<number>((resolve, reject) => {
      const listening = (error: Error | null, port: number): void => (error ? reject(error) : resolve(port));
      const { tls } = options;
      const credentials =
        tls === undefined
          ? ServerCredentials.createInsecure()
          : ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }]);
      double.#server.bindAsync(`${HOST}:${options.port ?? 0}`, credentials, listening);
    });
    return double;
  }

  get port(): number {
    return this.#port;
  }

  /** For the client. */
  get connectionString(): string {
    return `esdb://${HOST}:${this.#port}?tls=${this.#secure}`;
  }

  get counters(): Readonly<DoubleCounters> {
    return this.#handlers.counters;
  }

  /** Subscriptions that are open now (PITFALLS 4). */
  get openSubscriptions(): number {
    return this.#handlers.open.size;
  }

  /** Ends every subscription politely, with the status OK (PITFALLS 2). */
  endSubscriptions(): void {
    for (const call of this.#handlers.open) call.end();
  }

  /** Cuts every connection; the server goes on. */
  disconnect(): void {
    this.#server.drain(`${HOST}:${this.#port}`, 0);
  }

  /** Cuts every connection and stops, as a crash would; what is on disk stays. */
  async stop(): Promise<void> {
    this.#server.forceShutdown();
    await this.log.close();
  }
}

/** A port that is free now, for a server that must come back on the same one. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, HOST, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
