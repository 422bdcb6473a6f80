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
import { type DoubleCounters, StreamsHandlers } from './streams-service.ts';

export interface DoubleOptions extends LogOptions {
  /** 0 (default) for a free one. */
  readonly port?: number;
}

const HOST = '127.0.0.1';
const VERSION = '24.10.0';
const LEADER_STATE = 9;

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

const supportedMethods = (): features.SupportedMethods =>
  new features.SupportedMethods()
    .setEventStoreServerVersion(VERSION)
    .setMethodsList(
      ['read', 'append', 'delete', 'tombstone', 'batchappend'].map((name) =>
        new features.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name),
      ),
    );

const clusterOf = (port: number): gossip.ClusterInfo =>
  new gossip.ClusterInfo().setMembersList([
    new gossip.MemberInfo()
      .setInstanceId(new shared.UUID().setString(crypto.randomUUID()))
      .setState(LEADER_STATE)
      .setIsAlive(true)
      .setHttpEndPoint(new gossip.EndPoint().setAddress(HOST).setPort(port)),
  ]);

/**
 * Serves the protocol of an EventStoreDB of one node: appends, reads, subscriptions, deletes, from a file that survives
 * `kill -9`, with faults on demand. What it leaves out (links, projections, persistent subscriptions, access lists,
 * scavenging, batch append) the product does not use. Its rules were written from the documented behaviour of the real
 * server; the conformance suite runs against both (PITFALLS 65).
 */
export class EventStoreDbDouble {
  readonly faults = new Faults();
  readonly log: EventLog;
  readonly #handlers: StreamsHandlers;
  readonly #server: Server;
  #port = 0;

  private constructor(log: EventLog) {
    this.log = log;
    this.#handlers = new StreamsHandlers(log, this.faults, () => ({ host: HOST, port: this.#port }));
    // As large as what the client library is ready to receive.
    this.#server = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 });
    this.#server.addService(streamsService, this.#handlers.implementation);
    this.#server.addService(featuresGrpc.ServerFeaturesService, {
      getSupportedMethods: (_call: unknown, answer: sendUnaryData<features.SupportedMethods>) =>
        answer(null, supportedMethods()),
    });
    this.#server.addService(gossipGrpc.GossipService, {
      read: (_call: unknown, answer: sendUnaryData<gossip.ClusterInfo>) => answer(null, clusterOf(this.#port)),
    });
  }

  /** Opens the log and listens. */
  static async start(options: DoubleOptions): Promise<EventStoreDbDouble> {
    const double = new EventStoreDbDouble(await EventLog.open(options));
    double.#port = await new Promise<number>((resolve, reject) => {
      const listening = (error: Error | null, port: number): void => (error ? reject(error) : resolve(port));
      double.#server.bindAsync(`${HOST}:${options.port ?? 0}`, ServerCredentials.createInsecure(), listening);
    });
    return double;
  }

  get port(): number {
    return this.#port;
  }

  /** For the client. */
  get connectionString(): string {
    return `esdb://${HOST}:${this.#port}?tls=false`;
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
