import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine } from '../engine.ts';
import { HOST } from '../ports.ts';
import { kafkaAnswers } from '../probes.ts';
import { mavenJars, needJava, run } from '../tools.ts';
import { type KafkaSecurity, secureListeners, secureProperties } from './kafka-security.ts';

const VERSION = '4.3.1';
/** 16 bytes in base64url; clusters of their own ports have no need for more. */
const CLUSTER_ID = Buffer.from('bindery-backends').toString('base64url');
/** Ports of a node: see {@link properties}. */
export const PORTS_OF_NODE = 4;
/** Further ones of a node with {@link KafkaSecurity}. */
const PORTS_OF_SECURITY = 2;

export interface KafkaNode {
  /** From 1. */
  readonly id: number;
  /** Ports of the controllers of all nodes, in their order. */
  readonly controllers: readonly number[];
  /** Its listeners over TLS, if it has any. */
  readonly security?: KafkaSecurity;
}

/** What the broker keeps for itself: as many copies as there are nodes, 3 at most; writes wait for two of three. */
const copies = (nodes: number): readonly string[] => {
  const factor = Math.min(3, nodes);
  const least = Math.max(1, factor - 1);
  return [
    `default.replication.factor=${factor}`,
    `min.insync.replicas=${least}`,
    `offsets.topic.replication.factor=${factor}`,
    `transaction.state.log.replication.factor=${factor}`,
    `transaction.state.log.min.isr=${least}`,
    `share.coordinator.state.topic.replication.factor=${factor}`,
    `share.coordinator.state.topic.min.isr=${least}`,
  ];
};

/**
 * One node that is broker and controller (KRaft). Three ports besides the first: the controller's, and a second listener
 * whose *advertised* port differs from the one it listens on. A client that asks there is told the advertised port, so a
 * proxy that listens on it stays in the path also after the client has read the metadata.
 */
const properties = (
  dataFolder: string,
  ports: readonly number[],
  { id, controllers, security }: KafkaNode,
): readonly string[] => {
  const [direct, controller, proxied, advertised, ...rest] = ports;
  const secure = security === undefined ? [] : secureListeners(rest);
  const plain = [`DIRECT://${HOST}:${direct}`, `PROXIED://${HOST}:${proxied}`];
  const told = [`DIRECT://${HOST}:${direct}`, `PROXIED://${HOST}:${advertised}`];
  return [
    'process.roles=broker,controller',
    `node.id=${id}`,
    `controller.quorum.voters=${controllers.map((port, index) => `${index + 1}@${HOST}:${port}`).join(',')}`,
    `listeners=${[...plain, ...secure, `CONTROLLER://${HOST}:${controller}`].join(',')}`,
    `advertised.listeners=${[...told, ...secure].join(',')}`,
    'listener.security.protocol.map=DIRECT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURED:SASL_SSL,MUTUAL:SSL',
    'inter.broker.listener.name=DIRECT',
    'controller.listener.names=CONTROLLER',
    `log.dirs=${dataFolder}`,
    // Topics come from the catalogue alone.
    'auto.create.topics.enable=false',
    ...copies(controllers.length),
    'offsets.topic.num.partitions=8',
    'transaction.state.log.num.partitions=8',
    // A single member need not wait for others that might join.
    'group.initial.rebalance.delay.ms=0',
    'num.network.threads=2',
    'num.io.threads=4',
    'log.cleaner.dedupe.buffer.size=16777216',
    'log.segment.bytes=67108864',
    ...(security === undefined ? [] : secureProperties(security)),
  ];
};

/** A node of Apache Kafka, from Maven Central's jars. */
export const kafkaNode = (nodeOf: (ports: readonly number[]) => KafkaNode, nodes = 1, secure = false): Engine => ({
  name: 'kafka',
  title: `Apache Kafka ${VERSION} (KRaft, ${nodes === 1 ? 'one node' : `one of ${nodes} nodes`})`,
  portCount: PORTS_OF_NODE + (secure ? PORTS_OF_SECURITY : 0),
  readyDeadlineMs: 90_000,
  stopGraceMs: 20_000,
  prepare: async ({ folder, dataFolder, ports, say }) => {
    const java = await needJava(say);
    const jars = await mavenJars(
      `kafka-${VERSION}`,
      [`org.apache.kafka:kafka_2.13:${VERSION}`, 'org.slf4j:slf4j-simple:1.7.36'],
      say,
    );
    const classPath = ['-cp', join(jars, 'lib', '*'), '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'];
    const configuration = join(folder, 'server.properties');
    const node = nodeOf(ports);
    await writeFile(configuration, `${properties(dataFolder, ports, node).join('\n')}\n`, { mode: 0o600 });
    if (!existsSync(join(dataFolder, 'meta.properties'))) {
      const users = (node.security?.users ?? []).flatMap(({ name, password }) =>
        ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
          '--add-scram',
          `${mechanism}=[name=${name},password=${password}]`,
        ]),
      );
      const format = ['kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', configuration, ...users];
      await run(java, [...classPath, ...format]);
    }
    return {
      command: java,
      args: ['-Xms256m', '-Xmx512m', '-XX:+UseSerialGC', ...classPath, 'kafka.Kafka', configuration],
    };
  },
  probe: ({ ports }) => kafkaAnswers(ports[0] ?? 0),
  environment: ({ ports: [direct, , proxied, advertised] }) => ({
    KAFKA_BROKERS: `${HOST}:${direct}`,
    KAFKA_PROXY_LISTEN: `${HOST}:${advertised}`,
    KAFKA_PROXY_TARGET: `${HOST}:${proxied}`,
  }),
});

/** Apache Kafka, one node. */
export const kafka: Engine = kafkaNode(([, controller = 0]) => ({ id: 1, controllers: [controller] }));
