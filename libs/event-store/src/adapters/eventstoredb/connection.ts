import { EventStoreDBClient } from '@eventstore/db-client';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import type { CallOptions, Channel, ClientReadableStream, Metadata } from '@grpc/grpc-js';
import { bounded } from './bounded.ts';
import { Incoming } from './incoming.ts';

type StreamsClient = streamsGrpc.StreamsClient;
type StreamsClientClass = typeof streamsGrpc.StreamsClient;

/**
 * What the client library keeps for its own commands. Those commands are not used, for none of them can be aborted, the
 * append goes through the flawed batch call (PITFALLS 7) and reads cannot be filtered; the calls of the protocol
 * are made here, while connection string, TLS, credentials, cluster discovery, channels and reconnection stay the library's.
 * Its version is pinned, and the constructor below checks that all of this is there.
 */
interface ClientParts {
  execute<T>(client: StreamsClientClass, name: string, action: (client: StreamsClient) => Promise<T>): Promise<T>;
  GRPCStreamCreator<T>(
    client: StreamsClientClass,
    name: string,
    create: (client: StreamsClient) => T,
  ): () => Promise<T>;
  callArguments(options: { readonly requiresLeader: boolean }, callOptions: CallOptions): [Metadata, CallOptions];
  getChannel(): Promise<Channel>;
  dispose(): Promise<void>;
}

const PARTS = ['execute', 'GRPCStreamCreator', 'callArguments', 'getChannel', 'dispose'] as const;

const partsOf = (client: object): ClientParts => {
  for (const part of PARTS) {
    if (typeof Reflect.get(client, part) !== 'function') {
      throw new Error(
        `this version of the event store's client library has no ${part}: use the version that is pinned`,
      );
    }
  }
  return client as ClientParts;
};

/** Time that the call itself gets beyond the deadline it carries, before it is cut off here. */
const GRACE_MS = 250;
const CLOSE_MS = 1000;

/** The calls of the Streams service that the adapter makes, every one with a time limit and a way to abort it. */
export class Connection {
  readonly #parts: ClientParts;
  #used = false;

  /** @param connectionString `esdb://` or `esdb+discover://`; TLS and credentials are part of it */
  constructor(connectionString: string) {
    this.#parts = partsOf(EventStoreDBClient.connectionString(connectionString));
  }

  /** The plain `Append`: one call per append, which stands alone. Rejects with whatever the library or gRPC reports. */
  append(messages: readonly streams.AppendReq[], timeoutMs: number, signal: AbortSignal): Promise<streams.AppendResp> {
    this.#used = true;
    return bounded(timeoutMs + GRACE_MS, signal, (over) =>
      this.#parts.execute(
        streamsGrpc.StreamsClient,
        'append',
        (client) =>
          new Promise<streams.AppendResp>((resolve, reject) => {
            if (over.aborted) return reject(over.reason);
            const options = { deadline: Date.now() + timeoutMs };
            const call = client.append(
              ...this.#parts.callArguments({ requiresLeader: true }, options),
              (error, answer) => (error === null ? resolve(answer) : reject(error)),
            );
            call.on('error', reject);
            over.addEventListener('abort', () => call.cancel(), { once: true });
            for (const message of messages) call.write(message);
            call.end();
          }),
      ),
    );
  }

  /** Starts a read or a subscription. Its messages have no deadline of their own: whoever waits for one has. */
  async read(request: streams.ReadReq, timeoutMs: number, signal: AbortSignal): Promise<Incoming> {
    this.#used = true;
    const open = this.#parts.GRPCStreamCreator(streamsGrpc.StreamsClient, 'read', (client) => {
      const call = client.read(
        request,
        ...this.#parts.callArguments({ requiresLeader: true }, { deadline: Number.POSITIVE_INFINITY }),
      ) as ClientReadableStream<streams.ReadResp>;
      return Object.assign(call, { incoming: new Incoming(call) });
    });
    let late = false;
    try {
      return await bounded(timeoutMs, signal, async () => {
        const { incoming } = await open();
        if (late) incoming.close();
        return incoming;
      });
    } catch (error) {
      late = true; // a cluster that was still being looked for: the call may start after all
      throw error;
    }
  }

  /** Ends all calls and the connection. */
  async close(): Promise<void> {
    if (!this.#used) return;
    const never = new AbortController().signal;
    await bounded(CLOSE_MS, never, () => this.#parts.dispose()).catch(() => undefined);
    const channel = await bounded(CLOSE_MS, never, () => this.#parts.getChannel()).catch(() => undefined);
    channel?.close();
  }
}
