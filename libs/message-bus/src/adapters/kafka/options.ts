import type { ConnectionOptions } from 'node:tls';
import { PARTITIONS } from '../../partitioner.ts';

/** Something an operator should know; never carries payloads. */
export type KafkaProblem =
  | {
      /** A member could not read, write or commit; it goes on trying. */
      readonly kind: 'consumer';
      readonly group: string;
      readonly error: unknown;
    }
  | {
      /** A member lost its place and joins the group anew; as long as that lasts, `consumers()` says `down`. */
      readonly kind: 'consumer-crashed';
      readonly group: string;
      readonly error: unknown;
    }
  | {
      /** Messages went by retention before the group had handled them. */
      readonly kind: 'retention-lost';
      readonly topic: string;
      readonly partition: number;
      readonly messages: number;
    }
  | {
      /** A topic was created with fewer copies than are wanted, since the brokers permit no more now; it keeps that number. */
      readonly kind: 'fewer-copies';
      readonly topic: string;
      readonly copies: number;
      readonly wanted: number;
    }
  | {
      /** A publish failed or took too long; the producer was replaced. */
      readonly kind: 'publish';
      readonly error: unknown;
    };

/** A line of the client library's own log. */
export interface KafkaLogLine {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export type KafkaSasl = {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: string;
};

export interface KafkaMessageBusOptions {
  /** `host:port` of some brokers; the others are found through them. */
  readonly brokers: readonly string[];
  /** Shows in the broker's logs and quotas. Default `bindery`. */
  readonly clientId?: string;
  /** TLS; `true` for the system's authorities. */
  readonly ssl?: boolean | ConnectionOptions;
  readonly sasl?: KafkaSasl;
  /** Partitions of topics that `ensureTopics` creates; existing ones keep theirs. Default 6. */
  readonly partitions?: number;
  /**
   * Copies of topics that `ensureTopics` creates; refused when there are fewer brokers. Default: as many as the cluster
   * permits, 3 at most. A topic of three or more takes a write when two have it (`min.insync.replicas`).
   */
  readonly replicationFactor?: number;
  /** Largest message in bytes, set on the topics that `ensureTopics` creates. Default 8 MiB. */
  readonly maxMessageBytes?: number;
  /** Until a connection stands, in ms. Default 3,000. */
  readonly connectTimeoutMs?: number;
  /** For one request to a broker, in ms. Default 10,000. */
  readonly requestTimeoutMs?: number;
  /** For a publish with all its repetitions, in ms; then its outcome is unknown. Default 10,000. */
  readonly publishTimeoutMs?: number;
  /** Without a heartbeat for so long a member is out of its group, in ms. Default 30,000. */
  readonly sessionTimeoutMs?: number;
  /** Between heartbeats, in ms: also how soon a member notices that others came or went. Default 1,000. */
  readonly heartbeatMs?: number;
  /** How long members may take to hand over their partitions, in ms. Default 60,000. */
  readonly rebalanceTimeoutMs?: number;
  /**
   * The longest that a broker holds a member's fetch that has nothing new, in ms; new messages are sent at once. It is how long
   * a member may take to begin on partitions that it was given, and to send a heartbeat that is due. Default 500.
   */
  readonly fetchWaitMs?: number;
  /** How often the positions of handled messages are stored, in ms. Default 100. */
  readonly commitEveryMs?: number;
  /** How long a stopping member waits for the handlers before it aborts them, in ms. Default 10,000. */
  readonly stopTimeoutMs?: number;
  /** How long a transaction of a publisher may stay open before the broker ends it, in ms. Default 15,000. */
  readonly transactionTimeoutMs?: number;
  /** Milliseconds since 1970; for ages only. Default `Date.now`. */
  readonly now?: () => number;
  /** 0 to 1, for the jitter of back-offs. Default `Math.random`. */
  readonly random?: () => number;
  /** Told what an operator should know; for logs and metrics. */
  readonly onProblem?: (problem: KafkaProblem) => void;
  /** Told what the client library has to say; warnings and errors only. */
  readonly onLog?: (line: KafkaLogLine) => void;
}

/** The options with their defaults. */
export type KafkaSettings = Required<Omit<KafkaMessageBusOptions, 'ssl' | 'sasl' | 'replicationFactor'>> &
  Pick<KafkaMessageBusOptions, 'ssl' | 'sasl' | 'replicationFactor'>;

/**
 * How long a broker holds the fetch of a reader without a group, in ms: longer, since such a reader neither is given
 * partitions nor sends heartbeats, and asking less often costs less.
 */
export const followWaitMs = ({ fetchWaitMs, requestTimeoutMs }: KafkaSettings): number =>
  Math.min(fetchWaitMs * 5, requestTimeoutMs / 3);

export const settingsOf = (options: KafkaMessageBusOptions): KafkaSettings => {
  if (options.brokers.length === 0) throw new TypeError('there must be at least one broker');
  return {
    clientId: 'bindery',
    partitions: PARTITIONS,
    maxMessageBytes: 8 * 1024 * 1024,
    connectTimeoutMs: 3000,
    requestTimeoutMs: 10_000,
    publishTimeoutMs: 10_000,
    sessionTimeoutMs: 30_000,
    heartbeatMs: 1000,
    rebalanceTimeoutMs: 60_000,
    fetchWaitMs: 500,
    commitEveryMs: 100,
    stopTimeoutMs: 10_000,
    transactionTimeoutMs: 15_000,
    now: Date.now,
    random: Math.random,
    onProblem: () => undefined,
    onLog: () => undefined,
    ...options,
  };
};
