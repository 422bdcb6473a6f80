import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Engine } from '../engine.ts';
import { HOST } from '../ports.ts';
import { mongoAnswers } from '../probes.ts';
import { mavenJars, needJava } from '../tools.ts';

const VERSION = '1.47.0';
const GROUP = 'de.bwaldvogel';

/** mongo-java-server on an H2 file: MongoDB's protocol, one command at a time (see `java/MongoServerMain.java`). */
export const mongoJava: Engine = {
  name: 'mongodb',
  title: `mongo-java-server ${VERSION} on H2`,
  portCount: 1,
  readyDeadlineMs: 60_000,
  stopGraceMs: 10_000,
  prepare: async ({ dataFolder, ports, say }) => {
    const java = await needJava(say);
    const artifacts = ['mongo-java-server', 'mongo-java-server-h2-backend'].map(
      (name) => `${GROUP}:${name}:${VERSION}`,
    );
    const jars = await mavenJars(`mongo-java-server-${VERSION}`, artifacts, say);
    const main = fileURLToPath(new URL('../../java/MongoServerMain.java', import.meta.url));
    const file = join(dataFolder, 'documents.mv');
    return {
      command: java,
      args: ['-Xmx256m', '-XX:+UseSerialGC', '-cp', join(jars, 'lib', '*'), main, String(ports[0]), file],
    };
  },
  probe: ({ ports }) => mongoAnswers(ports[0] ?? 0),
  environment: ({ ports }) => ({ MONGODB_URL: `mongodb://${HOST}:${ports[0]}/` }),
};
