import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Engine } from '../engine.ts';
import { HOST } from '../ports.ts';
import { mongoAnswers } from '../probes.ts';
import { cacheFolder, filledOnce, mavenJars, needJava, run, type Say } from '../tools.ts';

const VERSION = '1.47.0';
const GROUP = 'de.bwaldvogel';
const SOURCES = fileURLToPath(new URL('../../java/', import.meta.url));
/**
 * One collector thread and the first compiler alone: from its first commands on it takes the least processor time, and
 * starts soonest. The second compiler would need some 20,000 commands to win back what it costs.
 */
const FLAGS = ['-Xmx1g', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:+ExitOnOutOfMemoryError'];

/** mongo-java-server in memory with a log: MongoDB's protocol, one command at a time (see `java/DurableBackend.java`). */
export const mongoJava: Engine = {
  name: 'mongodb',
  title: `mongo-java-server ${VERSION} in memory with a log`,
  portCount: 1,
  readyDeadlineMs: 60_000,
  stopGraceMs: 10_000,
  prepare: async ({ dataFolder, ports, say }) => {
    const java = await needJava(say);
    const artifacts = [`${GROUP}:mongo-java-server:${VERSION}`];
    const library = join(await mavenJars(`mongo-java-server-${VERSION}`, artifacts, say), 'lib');
    const jars = (await readdir(library)).toSorted().map((name) => join(library, name));
    const classPath = [await classes(java, jars, say), ...jars].join(delimiter);
    const file = join(dataFolder, 'commands.log');
    return { command: java, args: [...FLAGS, '-cp', classPath, 'MongoServerMain', String(ports[0]), file] };
  },
  probe: ({ ports }) => mongoAnswers(ports[0] ?? 0),
  environment: ({ ports }) => ({ MONGODB_URL: `mongodb://${HOST}:${ports[0]}/` }),
};

/** A folder with what the sources compile to; each version of the sources has its own. */
const classes = async (java: string, jars: readonly string[], say: Say): Promise<string> => {
  const names = (await readdir(SOURCES)).filter((name) => name.endsWith('.java')).toSorted();
  const sources = names.map((name) => join(SOURCES, name));
  const hash = createHash('sha256').update(VERSION);
  for (const source of sources) hash.update(await readFile(source));
  const folder = join(cacheFolder(), `mongo-server-${hash.digest('hex').slice(0, 16)}`);
  return await filledOnce(folder, async (temporary) => {
    say('compiling the launcher of mongo-java-server');
    // By its module, since `javac` need not be on the PATH.
    const compiler = ['-m', 'jdk.compiler/com.sun.tools.javac.Main'];
    await run(java, [...compiler, '--release', '17', '-d', temporary, '-cp', jars.join(delimiter), ...sources]);
  });
};
