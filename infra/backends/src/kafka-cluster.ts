import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Backend, backendIn } from './backend.ts';
import { kafkaNode } from './engines/kafka.ts';
import { type KafkaSecurity, makeSecurity } from './engines/kafka-security.ts';
import { freePorts, HOST } from './ports.ts';
import { kafkaBrokersKnown } from './probes.ts';
import type { Say } from './tools.ts';
import { waitUntil } from './wait.ts';

/** Nodes of a cluster at most: one machine runs them all. */
export const MOST_BROKERS = 5;

export interface KafkaClusterOptions {
  /** The state folder; the cluster has a folder of its own in it, beside a single broker's. */
  readonly folder: string;
  /** 1 to 5; what the folder was made with counts, once it is there. Default 3. */
  readonly brokers?: number;
  /** With listeners for clients over TLS. Default false. */
  readonly secure?: boolean;
  readonly say?: Say;
}

/** How clients reach the listeners over TLS. */
export interface SecureAccess extends KafkaSecurity {
  /** For users with a password (SASL_SSL: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512); `host:port` with commas. */
  readonly saslBrokers: string;
  /** For clients with a certificate (SSL). */
  readonly mutualBrokers: string;
}

/** Brokers that are one cluster: topics have up to three copies, and writes wait for two of three. */
export interface KafkaCluster {
  /** In the order of their ids, which begin at 1. */
  readonly brokers: readonly Backend[];
  /** As `KAFKA_BROKERS` has it. */
  readonly url: string;
  readonly secure: SecureAccess | undefined;
  readonly environment: Readonly<Record<string, string>>;
  /** Starts those that do not run, together: alone most of them would wait for the others. @throws as {@link Backend.start} */
  start(): Promise<void>;
  /** Ends all. The data stay. */
  stop(): Promise<void>;
}

interface Remembered {
  readonly ports: readonly (readonly number[])[];
  readonly password?: string;
}

/** From when all answer until all know one another, in ms. */
const COMPLETE_MS = 60_000;

const clusterFolder = (folder: string): string => join(folder, 'kafka-cluster');
const rememberedFile = (folder: string): string => join(clusterFolder(folder), 'cluster.json');
const USER = 'bindery';

const recall = async (options: KafkaClusterOptions): Promise<Remembered> => {
  const file = rememberedFile(options.folder);
  if (existsSync(file)) return JSON.parse(await readFile(file, 'utf8'));
  const { brokers = 3, secure = false } = options;
  if (!(Number.isInteger(brokers) && brokers >= 1 && brokers <= MOST_BROKERS))
    throw new RangeError(`a cluster has 1 to ${MOST_BROKERS} brokers, not ${brokers}`);
  const each = kafkaNode(() => ({ id: 1, controllers: [] }), brokers, secure).portCount;
  const ports = await freePorts(each * brokers);
  const made: Remembered = {
    ports: Array.from({ length: brokers }, (_, index) => ports.slice(index * each, (index + 1) * each)),
    ...(secure ? { password: randomBytes(18).toString('hex') } : {}),
  };
  await mkdir(clusterFolder(options.folder), { recursive: true });
  await writeFile(`${file}.${process.pid}`, JSON.stringify(made), { mode: 0o600 });
  await rename(`${file}.${process.pid}`, file);
  return made;
};

/** A cluster of a state folder as it is there, running or not. */
export const openKafkaCluster = async (options: KafkaClusterOptions): Promise<KafkaCluster> => {
  const folder = clusterFolder(options.folder);
  const say = options.say ?? (() => {});
  const { ports, password } = await recall(options);
  const controllers = ports.map(([, controller = 0]) => controller);
  const security =
    password === undefined
      ? undefined
      : await makeSecurity(join(folder, 'certificates'), [{ name: USER, password }], say);
  const brokers = await Promise.all(
    ports.map((own, index) => {
      const node = { id: index + 1, controllers, ...(security === undefined ? {} : { security }) };
      const engine = kafkaNode(() => node, ports.length, security !== undefined);
      return backendIn(engine, { folder: join(folder, String(node.id)), ports: own, say });
    }),
  );
  const listOf = (place: number): string => ports.map((own) => `${HOST}:${own[place]}`).join(',');
  return {
    brokers,
    url: listOf(0),
    environment: { KAFKA_BROKERS: listOf(0) },
    secure: security === undefined ? undefined : { ...security, saslBrokers: listOf(4), mutualBrokers: listOf(5) },
    start: async () => {
      await Promise.all(brokers.map((broker) => broker.start()));
      const complete = async ({ port }: Backend): Promise<boolean> =>
        (await kafkaBrokersKnown(port)) === brokers.length;
      for (const broker of brokers) {
        await waitUntil(() => complete(broker), {
          what: 'every broker knows every other one',
          deadlineMs: COMPLETE_MS,
        });
      }
    },
    stop: async () => {
      await Promise.all(brokers.map((broker) => broker.stop()));
    },
  };
};

/** Starts a cluster (or finds it running) and waits until every broker answers. @throws as {@link Backend.start} */
export const startKafkaCluster = async (options: KafkaClusterOptions): Promise<KafkaCluster> => {
  const cluster = await openKafkaCluster(options);
  await cluster.start();
  return cluster;
};

/** The cluster that a state folder knows, running or not. */
export const knownKafkaCluster = async (folder: string): Promise<KafkaCluster | undefined> =>
  existsSync(rememberedFile(folder)) ? await openKafkaCluster({ folder }) : undefined;
