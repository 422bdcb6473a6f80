import { parseArgs } from 'node:util';
import { type Backend, knownBackends, openBackend, removeState } from './backend.ts';
import { BACKEND_NAMES, type BackendName, MONGO_SERVERS, type MongoServer } from './engine.ts';
import { formatEnv, writeEnv } from './env-file.ts';
import { type KafkaCluster, knownKafkaCluster, MOST_BROKERS, openKafkaCluster } from './kafka-cluster.ts';
import { stateFolder } from './state-folder.ts';
import { MissingTool } from './tools.ts';

const HELP = `Real servers for the distributed profile, on this machine, without containers.

  npm run backends:up [-- --only kafka,redis] [--mongo java|ferretdb] [--brokers 3] [--require]
  npm run backends:status
  npm run backends:down [-- --only kafka] [--purge]

up      installs what is missing (once), starts each server on a port of its own, waits until it answers, and writes
        the environment variables of its clients to the file env in the state folder. Again: does nothing to what runs.
        A shell takes them with: set -a; . .backends/env; set +a
down    stops them; the data stay. --purge removes the data too.
--only     ${BACKEND_NAMES.join(', ')}; default: all
--mongo    which server speaks MongoDB's protocol: java (mongo-java-server, default) or ferretdb (on SQLite)
--brokers  Kafka as a cluster of 2 to ${MOST_BROKERS} nodes, with data of its own; without it: one node
--require  a server that cannot be had here is an error (exit code 1), not a message

The state folder is .backends in the checkout, or BACKENDS_DIR. Downloads are kept in ~/.cache/bindery-backends, or BACKENDS_CACHE.
`;

const say = (line: string): void => console.error(line);

const isBackendName = (name: string): name is BackendName => BACKEND_NAMES.some((known) => known === name);
const isMongoServer = (name: string): name is MongoServer => MONGO_SERVERS.some((known) => known === name);

const chosen = (only: string | undefined): readonly BackendName[] => {
  if (only === undefined) return BACKEND_NAMES;
  return only.split(',').map((name) => {
    if (!isBackendName(name)) throw new Error(`unknown back end "${name}": one of ${BACKEND_NAMES.join(', ')}`);
    return name;
  });
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Starts one and tells how it went. @returns whether it is up; undefined when this machine cannot have it */
const bringUp = async (backend: Backend): Promise<boolean | undefined> => {
  const begun = performance.now();
  try {
    await backend.start();
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    say(
      `${backend.name.padEnd(10)} ready after ${seconds} s  ${backend.url}  ${backend.title}, process ${backend.pid}`,
    );
    return true;
  } catch (error) {
    const missing = error instanceof MissingTool;
    say(`${backend.name.padEnd(10)} ${missing ? 'NOT STARTED' : 'FAILED'}: ${messageOf(error)}`);
    return missing ? undefined : false;
  }
};

const isUp = (cluster: KafkaCluster | undefined): cluster is KafkaCluster =>
  cluster?.brokers.some((broker) => broker.running) ?? false;

const writeEnvironment = async (folder: string): Promise<void> => {
  const running = (await knownBackends({ folder })).filter((backend) => backend.running);
  const cluster = await knownKafkaCluster(folder);
  const variables = Object.assign(
    {},
    ...running.map((backend) => backend.environment),
    isUp(cluster) ? cluster.environment : {},
  );
  await writeEnv(folder, variables);
  process.stdout.write(formatEnv(variables));
};

interface Flags {
  readonly only?: string;
  readonly mongo?: string;
  readonly brokers?: string;
  readonly require?: boolean;
  readonly purge?: boolean;
}

/** Kafka alone and Kafka as a cluster have the same clients: the other one ends. Its data stay. */
const stopOther = async (folder: string, clustered: boolean, count: number): Promise<void> => {
  const cluster = await knownKafkaCluster(folder);
  if (clustered && cluster !== undefined && cluster.brokers.length !== count)
    throw new Error(`the cluster in ${folder} has ${cluster.brokers.length} brokers: remove it with --purge first`);
  if (!clustered) return await cluster?.stop();
  const single = (await knownBackends({ folder })).find(({ name }) => name === 'kafka');
  await single?.stop();
};

const up = async (folder: string, flags: Flags): Promise<void> => {
  const { mongo } = flags;
  if (mongo !== undefined && !isMongoServer(mongo)) throw new Error(`unknown --mongo ${mongo}: java or ferretdb`);
  const count = flags.brokers === undefined ? 1 : Number(flags.brokers);
  if (!(Number.isInteger(count) && count >= 1 && count <= MOST_BROKERS))
    throw new Error(`--brokers ${flags.brokers}: a number from 1 to ${MOST_BROKERS}`);
  const names = chosen(flags.only);
  const clustered = count > 1 && names.includes('kafka');
  if (names.includes('kafka')) await stopOther(folder, clustered, count);
  const backends = await Promise.all(
    names
      .filter((name) => !(clustered && name === 'kafka'))
      .map((name) => openBackend(name, { folder, say, ...(mongo === undefined ? {} : { mongo }) })),
  );
  const cluster = clustered ? await openKafkaCluster({ folder, brokers: count, say }) : undefined;
  const results = await Promise.all([...backends, ...(cluster?.brokers ?? [])].map(bringUp));
  await writeEnvironment(folder);
  if (results.includes(false) || (flags.require === true && results.includes(undefined))) process.exitCode = 1;
};

const down = async (folder: string, flags: Flags): Promise<void> => {
  const names = chosen(flags.only);
  const cluster = await knownKafkaCluster(folder);
  const known = [...(await knownBackends({ folder })), ...(cluster?.brokers ?? [])];
  const backends = known.filter(({ name }) => names.includes(name));
  await Promise.all(
    backends.map(async (backend) => {
      if (!backend.running) return;
      await backend.stop();
      say(`${backend.name.padEnd(10)} stopped`);
    }),
  );
  if (flags.purge === true) await removeState(folder, known);
  else if (backends.length > 0) await writeEnvironment(folder);
};

const status = async (folder: string): Promise<void> => {
  const backends = await knownBackends({ folder });
  for (const name of BACKEND_NAMES) {
    const backend = backends.find((known) => known.name === name);
    const answers = backend !== undefined && (await backend.answers());
    const state = answers ? 'answers' : backend?.running === true ? 'runs, but does not answer' : 'stopped';
    console.log(`${name.padEnd(10)} ${state}${backend === undefined ? '' : `  ${backend.url}  ${backend.title}`}`);
  }
  for (const broker of (await knownKafkaCluster(folder))?.brokers ?? []) {
    const state = (await broker.answers()) ? 'answers' : broker.running ? 'runs, but does not answer' : 'stopped';
    console.log(`${broker.name.padEnd(10)} ${state}  ${broker.url}  ${broker.title}`);
  }
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    mongo: { type: 'string' },
    brokers: { type: 'string' },
    require: { type: 'boolean' },
    purge: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
});
const folder = stateFolder();
const [command] = positionals;
if (values.help === true || command === undefined) process.stdout.write(HELP);
else if (command === 'up') await up(folder, values);
else if (command === 'down') await down(folder, values);
else if (command === 'status') await status(folder);
else {
  say(`unknown command "${command}"\n${HELP}`);
  process.exitCode = 1;
}
