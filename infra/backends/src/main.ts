import { parseArgs } from 'node:util';
import { type Backend, knownBackends, openBackend, removeState } from './backend.ts';
import { BACKEND_NAMES, type BackendName, MONGO_SERVERS, type MongoServer } from './engine.ts';
import { formatEnv, writeEnv } from './env-file.ts';
import { stateFolder } from './state-folder.ts';
import { MissingTool } from './tools.ts';

const HELP = `Real servers for the distributed profile, on this machine, without containers.

  npm run backends:up [-- --only kafka,redis] [--mongo java|ferretdb] [--require]
  npm run backends:status
  npm run backends:down [-- --only kafka] [--purge]

up      installs what is missing (once), starts each server on a port of its own, waits until it answers, and writes
        the environment variables of its clients to the file env in the state folder. Again: does nothing to what runs.
        A shell takes them with: set -a; . .backends/env; set +a
down    stops them; the data stay. --purge removes the data too.
--only     ${BACKEND_NAMES.join(', ')}; default: all
--mongo    which server speaks MongoDB's protocol: java (mongo-java-server, default) or ferretdb (on SQLite)
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

const writeEnvironment = async (folder: string): Promise<void> => {
  const running = (await knownBackends({ folder })).filter((backend) => backend.running);
  const variables = Object.assign({}, ...running.map((backend) => backend.environment));
  await writeEnv(folder, variables);
  process.stdout.write(formatEnv(variables));
};

interface Flags {
  readonly only?: string;
  readonly mongo?: string;
  readonly require?: boolean;
  readonly purge?: boolean;
}

const up = async (folder: string, flags: Flags): Promise<void> => {
  const { mongo } = flags;
  if (mongo !== undefined && !isMongoServer(mongo)) throw new Error(`unknown --mongo ${mongo}: java or ferretdb`);
  const results = await Promise.all(
    chosen(flags.only).map(async (name) =>
      bringUp(await openBackend(name, { folder, say, ...(mongo === undefined ? {} : { mongo }) })),
    ),
  );
  await writeEnvironment(folder);
  if (results.includes(false) || (flags.require === true && results.includes(undefined))) process.exitCode = 1;
};

const down = async (folder: string, flags: Flags): Promise<void> => {
  const names = chosen(flags.only);
  const backends = (await knownBackends({ folder })).filter(({ name }) => names.includes(name));
  await Promise.all(
    backends.map(async (backend) => {
      if (!backend.running) return;
      await backend.stop();
      say(`${backend.name.padEnd(10)} stopped`);
    }),
  );
  if (flags.purge === true) await removeState(folder);
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
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    mongo: { type: 'string' },
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
