import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { BACKEND_NAMES, type BackendName, MissingTool, startBackend, stateFolder } from '@bindery/backends';

/** Variables by which a server that runs elsewhere takes the place of one that is started here. */
const elsewhere: Readonly<Record<BackendName, string>> = {
  eventstore: 'EVENTSTORE_URL',
  kafka: 'KAFKA_BROKERS',
  mongodb: 'MONGODB_URL',
  redis: 'REDIS_URL',
  s3: 'S3_ENDPOINT',
};

const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    retry: { type: 'boolean', default: false },
    require: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
  allowPositionals: true,
});

/** The end-to-end tests of the embedded profile that say nothing about its files. */
const endToEnd = [
  'clients',
  'story',
  ...(values.quick ? [] : ['sign-in', 'saml.test', 'hostile', 'elsa', 'crash-loop', 'parked']),
];
const suites = values.quick
  ? '(eventstoredb|kafka|mongodb|redis|s3).conformance'
  : '(eventstoredb|kafka(?!.(faults|cluster))|mongodb|redis|s3)';

interface Part {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Needs every server, and those of this machine: it stops and freezes them. */
  readonly whole: boolean;
  readonly onlyByName?: boolean;
}

const parts: readonly Part[] = [
  {
    name: 'conformance',
    args: [
      `libs/[^/]+/src/adapters/${suites}`,
      ...(values.quick ? [] : ['examples/', 'infra/backends/src/engines', 'libs/distributed/src/kafka']),
      '--maxWorkers=2',
    ],
    whole: false,
  },
  {
    name: 'end-to-end',
    args: [`infra/e2e/src/(${endToEnd.join('|')})`],
    env: { BINDERY_PROFILE: 'distributed', CRASH_ROUNDS: process.env.CRASH_ROUNDS ?? '2' },
    whole: true,
  },
  {
    name: 'faults',
    args: [values.quick ? 'infra/distributed/src/(faults|traces)' : 'infra/distributed'],
    env: values.quick ? { FAULTS: 'quick' } : {},
    whole: true,
  },
  // Three brokers of its own, killed and restarted in turn: minutes.
  {
    name: 'kafka-cluster',
    args: ['libs/message-bus/src/adapters/kafka.cluster'],
    whole: false,
    onlyByName: values.quick,
  },
  // Of the broker alone, which starts one of its own and breaks it for minutes: only when it is asked for.
  { name: 'kafka-faults', args: ['libs/message-bus/src/adapters/kafka.faults'], whole: false, onlyByName: true },
];

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const start = async (): Promise<{ env: Record<string, string>; missing: string[] }> => {
  const env: Record<string, string> = {};
  const missing: string[] = [];
  await Promise.all(
    BACKEND_NAMES.map(async (name) => {
      if (process.env[elsewhere[name]] !== undefined) {
        say(`${name}: the one at ${elsewhere[name]}`);
        return;
      }
      try {
        const backend = await startBackend(name, { folder: stateFolder(), say });
        Object.assign(env, backend.environment);
        say(`${name}: ${backend.title} at ${backend.url}`);
      } catch (error) {
        if (!(error instanceof MissingTool)) throw error;
        missing.push(`${name}: ${error.message}`);
      }
    }),
  );
  return { env, missing };
};

const run = async ({ args, env }: Part, servers: Readonly<Record<string, string>>): Promise<boolean> => {
  const jest = ['--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
  const child = spawn(process.execPath, [...jest, '-c', 'jest.distributed.config.mjs', '--forceExit', ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...servers, ...env },
  });
  const [code] = await once(child, 'exit');
  return code === 0;
};

if (values.help) {
  say(`npm run test:distributed -- [${parts.map(({ name }) => name).join('|')} ...] [--require]

Starts the servers of the distributed profile, then runs the conformance suites of their adapters, the end-to-end tests
against two gateways, and faults one by one under load. ${Object.values(elsewhere).join(', ')} name servers that run elsewhere.
  --quick    conformance alone, the stories of the public clients, the faults that differ most, one trace
  --retry    a part that fails is run once more, and said to have needed it
  --require  fail where a server cannot be had, instead of saying what is skipped`);
} else {
  const { env, missing } = await start();
  for (const one of missing) say(`NOT HERE: ${one}`);
  if (values.require && missing.length > 0) process.exit(1);
  const chosen = parts.filter(({ name, onlyByName }) =>
    positionals.length === 0 ? !onlyByName : positionals.includes(name),
  );
  const results: string[] = [];
  let failed = false;
  for (const part of chosen) {
    if (
      part.whole &&
      (missing.length > 0 || BACKEND_NAMES.some((name) => process.env[elsewhere[name]] !== undefined))
    ) {
      results.push(`${part.name}: SKIPPED, it needs all servers started here`);
      continue;
    }
    const startedAt = performance.now();
    const first = await run(part, env);
    const ok = first || (values.retry && (await run(part, env)));
    failed ||= !ok;
    const outcome = first ? 'passed' : ok ? 'passed at the second attempt' : 'FAILED';
    results.push(`${part.name}: ${outcome} in ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }
  say(`\n${results.join('\n')}`);
  process.exit(failed ? 1 : 0);
}
