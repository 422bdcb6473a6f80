import { EventStoreDBClient } from '@eventstore/db-client';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import type { CallOptions, Channel, ClientReadableStream, Metadata } from '@grpc/grpc-js';
import { bounded } from './bounded.ts';
import { clientConnectionString, furtherConnectionString } from './connection-string.ts';
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
  handleError(client: unknown, error: unknown): Promise<void>;
}

const PARTS = ['execute', 'GRPCStreamCreator', 'callArguments', 'getChannel', 'dispose', 'handleError'] as const;

/** @throws Error when the library is another one than the pinned version */
export const partsOf = (client: object): ClientParts => {
  for (const part of PARTS) {
    if (typeof Reflect.get(client, part) !== 'function') {
      throw new Error(
        `this version of the event store's client library has no ${part}: use the version that is pinned`,
      );
    }
  }
  const parts = client as ClientParts;
  // The library leaves this promise to itself: a cluster that is not found while a call of its old connection fails would be
  // a rejection that nobody handles, which ends the process. The call reports its error by itself.
  const { handleError } = parts;
  parts.handleError = (...args) => handleError(...args).catch(() => undefined);
  return parts;
};

const clientOf = (checked: string): EventStoreDBClient => {
  try {
    return EventStoreDBClient.connectionString(checked);
  } catch (error) {
    // The library's error has the connection string, password included, as a property.
    const secret = /\/\/([^@?]*)@/u.exec(checked)?.[1];
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `the connection string of the event store: ${secret === undefined ? reason : reason.replaceAll(secret, '***')}`,
    );
  }
};

/** Time that the call itself gets beyond the deadline it carries, before it is cut off here. */
const GRACE_MS = 250;
const CLOSE_MS = 1000;
/**
 * Subscriptions of the first connection, and of each further one. The server serves 100 calls per connection at once and lets
 * the next wait: appends and reads, which end, must not wait for subscriptions, which do not.
 */
const FIRST_SUBSCRIPTIONS = 40;
const FURTHER_SUBSCRIPTIONS = 90;
/** A further connection without a subscription is kept for so long: those who leave often come back at once. */
const EMPTY_MS = 30_000;

/** One connection of the library, and the subscriptions that it carries. */
interface Lane {
  readonly parts: ClientParts;
  /** What makes its settings differ from those of the others; 0 for the first. */
  readonly number: number;
  readonly room: number;
  subscriptions: number;
  /** Closes it, as long as it is empty. */
  timer: NodeJS.Timeout | undefined;
}

const NEVER = new AbortController().signal;

/** Ends all calls of a connection and the connection. */
const closeLane = async ({ parts, timer }: Lane): Promise<void> => {
  clearTimeout(timer);
  await bounded(CLOSE_MS, NEVER, () => parts.dispose()).catch(() => undefined);
  // A channel that is still being looked for is closed when it is found.
  const closing = parts.getChannel().then((channel) => channel.close());
  await bounded(CLOSE_MS, NEVER, () => closing).catch(() => undefined);
};

/** The calls of the Streams service that the adapter makes, every one with a time limit and a way to abort it. */
export class Connection {
  readonly #open: (number: number) => Lane;
  readonly #first: Lane;
  readonly #lanes: Lane[];
  readonly #emptyMs: number;
  readonly #closing = new Set<Promise<void>>();
  #used = false;

  /**
   * @param connectionString `esdb://` or `esdb+discover://`; TLS and credentials are part of it
   * @param emptyMs how long a further connection is kept without a subscription, in ms
   * @throws Error without the credentials when it cannot be understood, or a file that it names is not there
   */
  constructor(connectionString: string, emptyMs: number = EMPTY_MS) {
    const checked = clientConnectionString(connectionString);
    this.#emptyMs = emptyMs;
    this.#open = (number) => ({
      parts: partsOf(clientOf(number === 0 ? checked : furtherConnectionString(checked, number))),
      number,
      room: number === 0 ? FIRST_SUBSCRIPTIONS : FURTHER_SUBSCRIPTIONS,
      subscriptions: 0,
      timer: undefined,
    });
    this.#first = this.#open(0);
    this.#lanes = [this.#first];
  }

  /** The plain `Append`: one call per append, which stands alone. Rejects with whatever the library or gRPC reports. */
  append(messages: readonly streams.AppendReq[], timeoutMs: number, signal: AbortSignal): Promise<streams.AppendResp> {
    this.#used = true;
    const { parts } = this.#first;
    return bounded(timeoutMs + GRACE_MS, signal, (over) =>
      parts.execute(
        streamsGrpc.StreamsClient,
        'append',
        (client) =>
          new Promise<streams.AppendResp>((resolve, reject) => {
            if (over.aborted) return reject(over.reason);
            const options = { deadline: Date.now() + timeoutMs };
            const call = client.append(...parts.callArguments({ requiresLeader: true }, options), (error, answer) =>
              error === null ? resolve(answer) : reject(error),
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
    signal.throwIfAborted();
    this.#used = true;
    const lasting = request.getOptions()?.hasSubscription() === true;
    const lane = lasting ? this.#laneOfSubscription() : this.#first;
    const leave = lasting ? () => this.#leave(lane) : () => undefined;
    const open = lane.parts.GRPCStreamCreator(streamsGrpc.StreamsClient, 'read', (client) => {
      const call = client.read(
        request,
        ...lane.parts.callArguments({ requiresLeader: true }, { deadline: Number.POSITIVE_INFINITY }),
      ) as ClientReadableStream<streams.ReadResp>;
      return Object.assign(call, { incoming: new Incoming(call, leave) });
    });
    const opening = open();
    opening.catch(leave); // there never was a call
    try {
      return await bounded(timeoutMs, signal, async () => (await opening).incoming);
    } catch (error) {
      // A cluster that was still being looked for: the call may start after all.
      opening.then(
        ({ incoming }) => incoming.close(),
        () => undefined,
      );
      throw error;
    }
  }

  /** A connection with room, in which the subscription has its place. */
  #laneOfSubscription(): Lane {
    let lane = this.#lanes.find(({ room, subscriptions }) => subscriptions < room);
    if (lane === undefined) {
      const numbers = new Set(this.#lanes.map(({ number }) => number));
      let number = 1;
      while (numbers.has(number)) number += 1;
      lane = this.#open(number);
      this.#lanes.push(lane);
    }
    lane.subscriptions += 1;
    clearTimeout(lane.timer);
    return lane;
  }

  #leave(lane: Lane): void {
    lane.subscriptions -= 1;
    if (lane === this.#first || lane.subscriptions > 0 || !this.#lanes.includes(lane)) return;
    lane.timer = setTimeout(() => {
      this.#lanes.splice(this.#lanes.indexOf(lane), 1);
      const closing = closeLane(lane).finally(() => this.#closing.delete(closing));
      this.#closing.add(closing);
    }, this.#emptyMs).unref();
  }

  /** Ends all calls and the connections. */
  async close(): Promise<void> {
    if (!this.#used) return;
    await Promise.all([...this.#lanes.splice(0).map(closeLane), ...this.#closing]);
  }
}
