import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine } from '../engine.ts';
import { HOST } from '../ports.ts';
import { kafkaAnswers } from '../probes.ts';
import { mavenJars, needJava, run } from '../tools.ts';

const VERSION = '4.3.1';
/** 16 bytes in base64url; one node has no need for more. */
const CLUSTER_ID = Buffer.from('bindery-backends').toString('base64url');

/**
 * One node that is broker and controller (KRaft). Three ports besides the first: the controller's, and a second listener
 * whose *advertised* port differs from the one it listens on. A client that asks there is told the advertised port, so a
 * proxy that listens on it stays in the path also after the client has read the metadata.
 */
const properties = (dataFolder: string, [direct, controller, proxied, advertised]: readonly number[]): string =>
  `${[
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@${HOST}:${controller}`,
    `listeners=DIRECT://${HOST}:${direct},PROXIED://${HOST}:${proxied},CONTROLLER://${HOST}:${controller}`,
    `advertised.listeners=DIRECT://${HOST}:${direct},PROXIED://${HOST}:${advertised}`,
    'listener.security.protocol.map=DIRECT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name=DIRECT',
    'controller.listener.names=CONTROLLER',
    `log.dirs=${dataFolder}`,
    // Topics come from the catalogue alone.
    'auto.create.topics.enable=false',
    'offsets.topic.replication.factor=1',
    'offsets.topic.num.partitions=8',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    'transaction.state.log.num.partitions=8',
    'share.coordinator.state.topic.replication.factor=1',
    'share.coordinator.state.topic.min.isr=1',
    // A single member need not wait for others that might join.
    'group.initial.rebalance.delay.ms=0',
    'num.network.threads=2',
    'num.io.threads=4',
    'log.cleaner.dedupe.buffer.size=16777216',
    'log.segment.bytes=67108864',
  ].join('\n')}\n`;

/** Apache Kafka, one node, from Maven Central's jars. */
export const kafka: Engine = {
  name: 'kafka',
  title: `Apache Kafka ${VERSION} (KRaft, one node)`,
  portCount: 4,
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
    await writeFile(configuration, properties(dataFolder, ports));
    if (!existsSync(join(dataFolder, 'meta.properties')))
      await run(java, [...classPath, 'kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', configuration]);
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
};
