import { connect, isIP, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import type { Cluster, ISocketFactoryArgs, Kafka, PartitionAssigner, SASLOptions } from 'kafkajs';
import kafkajs from 'kafkajs';
import { applyLibraryFixes } from './library-fixes.ts';
import type { KafkaLogLine, KafkaSettings } from './options.ts';

const KEEP_ALIVE_MS = 60_000;
const GIVEN_UP = 'this client was given up';

const levelOf = (level: number): KafkaLogLine['level'] => {
  if (level === kafkajs.logLevel.ERROR) return 'error';
  if (level === kafkajs.logLevel.WARN) return 'warn';
  return level === kafkajs.logLevel.DEBUG ? 'debug' : 'info';
};

/**
 * A client of the library with sockets of its own that can be cut. The library repeats a request practically for ever and
 * also after a disconnect (PITFALLS 21); without sockets it can do nothing more, so an abandoned producer or consumer
 * cannot come back later.
 */
export class KafkaClient {
  readonly kafka: Kafka;
  readonly #settings: KafkaSettings;
  readonly #sockets = new Set<Socket>();
  #cut = false;

  constructor(settings: KafkaSettings) {
    applyLibraryFixes();
    this.#settings = settings;
    const { brokers, clientId, ssl, sasl, connectTimeoutMs, requestTimeoutMs, onLog } = settings;
    this.kafka = new kafkajs.Kafka({
      brokers: [...brokers],
      clientId,
      ...(ssl === undefined ? {} : { ssl }),
      ...(sasl === undefined ? {} : { sasl: sasl as SASLOptions }),
      connectionTimeout: connectTimeoutMs,
      authenticationTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
      enforceRequestTimeout: true,
      retry: { retries: 3, initialRetryTime: 50, maxRetryTime: 1000 },
      socketFactory: (args) => this.#open(args),
      logLevel: kafkajs.logLevel.WARN,
      logCreator: () => (entry) => {
        if (this.#cut) return; // the end that we made ourselves
        const { message, timestamp: _timestamp, stack: _stack, ...fields } = entry.log;
        onLog({ level: levelOf(entry.level), message, fields: { ...fields, namespace: entry.namespace } });
      },
    });
  }

  /** Ends every connection at once and lets none be opened any more. */
  cut(): void {
    this.#cut = true;
    // With an error: the library does not notice a mere close, and would wait for its requests until they time out.
    for (const socket of this.#sockets) socket.destroy(new Error(GIVEN_UP));
    this.#sockets.clear();
  }

  #open({ host, port, ssl, onConnect }: ISocketFactoryArgs): Socket {
    const secure: unknown = ssl;
    const options = { host, port, ...(isIP(host) === 0 ? { servername: host } : {}), ...ssl };
    const socket =
      this.#settings.ssl === undefined || secure === undefined || secure === null || secure === false
        ? connect({ host, port }, onConnect)
        : connectSecurely(options, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.setNoDelay(true);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      // The library does it to the same one at each try while a broker is away, and a closed one gains a listener by it.
      socket.unref = () => socket;
    });
    if (this.#cut) {
      socket.destroy(new Error(GIVEN_UP));
      return socket;
    }
    this.#sockets.add(socket);
    return socket;
  }
}

/**
 * An assigner of partitions (round robin) that tells which cluster it was made for: the library's only documented way to
 * what lies below a consumer (metadata, offsets, single fetches).
 */
export const assignerTelling =
  (tell: (cluster: Cluster) => void): PartitionAssigner =>
  (config) => {
    tell(config.cluster);
    return kafkajs.PartitionAssigners.roundRobin(config);
  };
