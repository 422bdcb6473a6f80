import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type KafkaCluster, type SecureAccess, startKafkaCluster } from '@bindery/backends';
import { type CloudEvent, serviceTopic } from '@bindery/message-bus';
import { openKafkaMessageBus } from '@bindery/message-bus/kafka';
import { readConfig, systemClock } from '@bindery/service-kit';
import { noopTelemetry } from '@bindery/telemetry';
import { describeMessageBusConformance, loseMessagesOfKafka, writeKeylessToKafka } from '@bindery/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { openKafka } from './open-kafka.ts';
import { kafkaSettings } from './settings.ts';

type Environment = Readonly<Record<string, string>>;

const opened: { close(): Promise<void> }[] = [];
const said: unknown[] = [];
afterEach(async () => {
  said.length = 0;
  await Promise.all(opened.splice(0).map((bus) => bus.close()));
});

/** As a service opens it; what it says goes to `said`. */
const open = (env: Environment) => {
  const logger = noopTelemetry().logger;
  const say =
    (level: string) =>
    (message: string, fields?: object): void =>
      void said.push({ ...fields, level, message });
  const telling = { ...logger, debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
  const telemetry = { ...noopTelemetry(), logger: telling };
  return openKafka('testing', readConfig(kafkaSettings, env), {
    ...{ telemetry, clock: systemClock },
    keep(_name, store) {
      opened.push(store);
      return store;
    },
  });
};

describe('settings of the message bus that do not fit together', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bindery-kafka-settings-'));
    await writeFile(join(folder, 'none.pem'), 'nothing\n');
  });
  afterAll(() => rm(folder, { recursive: true }));
  const brokers = { KAFKA_BROKERS: '127.0.0.1:1' };

  test.each<[string, (at: (name: string) => string) => Environment, RegExp]>([
    [
      'a file without TLS',
      (at) => ({ KAFKA_SSL_CA_FILE: at('none.pem') }),
      /^Configuration: KAFKA_SSL_CA_FILE: .*KAFKA_SSL=true/,
    ],
    [
      'a file that is not there',
      (at) => ({ KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: at('absent.pem') }),
      /^Configuration: KAFKA_SSL_CA_FILE: .*absent\.pem cannot be read: ENOENT$/,
    ],
    [
      'a file without a certificate',
      (at) => ({ KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: at('none.pem') }),
      /^Configuration: KAFKA_SSL_CA_FILE: .*none\.pem is not what it should be/,
    ],
    [
      'a certificate without a key',
      (at) => ({ KAFKA_SSL: 'true', KAFKA_SSL_CERTIFICATE_FILE: at('none.pem') }),
      /^Configuration: KAFKA_SSL_CERTIFICATE_FILE, KAFKA_SSL_KEY_FILE: one needs the other$/,
    ],
    [
      'a mechanism without a password',
      () => ({ KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'u' }),
      /^Configuration: KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD: /,
    ],
  ])('%s', async (_name, env, message) => {
    const at = (name: string): string => join(folder, name);
    await expect(open({ ...brokers, ...env(at) })).rejects.toMatchObject({
      code: 'config.invalid',
      message: expect.stringMatching(message),
    });
  });

  test('brokers that are away do not end the start', async () => {
    await open(brokers);
    expect(said).toContainEqual(expect.objectContaining({ level: 'warn', message: 'the message bus is away' }));
  });
});

const suite = (): void => {
  let folder: string;
  let cluster: KafkaCluster;
  let secure: SecureAccess;
  let password: string;
  const env = (changes: Environment = {}): Environment => ({
    ...{ KAFKA_BROKERS: secure.saslBrokers, KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: secure.caFile },
    ...{ KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SASL_USERNAME: 'bindery', KAFKA_SASL_PASSWORD: password },
    ...changes,
  });
  const mutual = (): Environment => ({
    ...{ KAFKA_BROKERS: secure.mutualBrokers, KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: secure.caFile },
    ...{ KAFKA_SSL_CERTIFICATE_FILE: secure.clientCertificateFile, KAFKA_SSL_KEY_FILE: secure.clientKeyFile },
  });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bindery-kafka-secure-'));
    cluster = await startKafkaCluster({ folder, brokers: 1, secure: true });
    if (cluster.secure === undefined) throw new Error('the cluster has no secure listeners');
    secure = cluster.secure;
    password = secure.users[0]?.password ?? '';
  }, 180_000);
  afterAll(async () => {
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  test.each<[string, () => Environment]>([
    ['PLAIN', () => env({ KAFKA_SASL_MECHANISM: 'plain' })],
    ['SCRAM-SHA-256', () => env({ KAFKA_SASL_MECHANISM: 'scram-sha-256' })],
    ['SCRAM-SHA-512', () => env()],
    ['a certificate', mutual],
  ])('what is published is consumed: %s', async (name, settings) => {
    const bus = await open(settings());
    const topic = serviceTopic(`secure-${name.toLowerCase().replaceAll(' ', '-')}`);
    await bus.ensureTopics([topic]);
    const got: string[] = [];
    await bus.consume({
      ...{ group: topic, topics: [topic] },
      handle: async ({ event: { id } }) => {
        got.push(id);
        return { kind: 'done' };
      },
    });
    const event: CloudEvent = {
      ...{ specversion: '1.0', id: '1', source: '/services/testing', type: 'bindery.testing.happened.v1' },
      ...{ subject: 'a', time: '2030-01-02T03:04:05.678Z', datacontenttype: 'application/json', dataschema: '' },
      data: {},
    };
    await bus.publish(topic, [{ key: 'a', event }]);
    while (got.length < 1) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(said.filter((line) => Object(line).level !== 'debug')).toEqual([]);
  });

  test.each<[string, () => Environment, RegExp]>([
    [
      'a wrong password (SCRAM)',
      () => env({ KAFKA_SASL_PASSWORD: 'wrong-secret' }),
      /^Configuration: KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD: /,
    ],
    [
      'a wrong password (PLAIN)',
      () => env({ KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_PASSWORD: 'wrong-secret' }),
      /^Configuration: KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD: /,
    ],
    [
      'an unknown user',
      () => env({ KAFKA_SASL_USERNAME: 'nobody' }),
      /^Configuration: KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD: /,
    ],
    [
      'another authority',
      () => env({ KAFKA_SSL_CA_FILE: secure.strangeCaFile }),
      /^Configuration: KAFKA_SSL_CA_FILE: /,
    ],
    ['only the authorities of Node', () => env({ KAFKA_SSL_CA_FILE: '' }), /^Configuration: KAFKA_SSL_CA_FILE: /],
    [
      'no certificate of our own',
      () => ({ ...mutual(), KAFKA_SSL_CERTIFICATE_FILE: '', KAFKA_SSL_KEY_FILE: '' }),
      /^Configuration: KAFKA_SSL_CERTIFICATE_FILE, /,
    ],
    [
      'the key of another certificate',
      () => ({ ...mutual(), KAFKA_SSL_KEY_FILE: secure.brokerFile }),
      /^Configuration: KAFKA_SSL_KEY_FILE: is not the key/,
    ],
    [
      'a user where nobody signs in',
      () => ({ ...env({ KAFKA_BROKERS: cluster.url, KAFKA_SSL: 'false', KAFKA_SSL_CA_FILE: '' }) }),
      /^Configuration: KAFKA_SASL_MECHANISM: /,
    ],
  ])('a start with %s ends, and says which setting it is', async (_name, settings, message) => {
    await expect(open(settings())).rejects.toMatchObject({
      code: 'config.invalid',
      message: expect.stringMatching(message),
    });
    expect(JSON.stringify(said)).not.toMatch(new RegExp(`${password}|wrong-secret`));
  });

  test.each<[string, () => Environment]>([
    ['TLS where it is wanted', () => env({ KAFKA_SSL: 'false', KAFKA_SSL_CA_FILE: '' })],
    ['a user where one is wanted', () => env({ KAFKA_SASL_MECHANISM: '', KAFKA_SASL_USERNAME: '' })],
  ])('a start without %s goes on, and says what may be wrong', async (_name, settings) => {
    await open(settings());
    const advice = expect.stringMatching(/^KAFKA_SSL, KAFKA_SASL_MECHANISM: /);
    expect(said).toContainEqual(expect.objectContaining({ message: 'the message bus is away', advice }));
  });

  test('more copies than there are brokers: a readable reason', async () => {
    const bus = await open(env({ KAFKA_REPLICATION_FACTOR: '3' }));
    await expect(bus.ensureTopics([serviceTopic('copies')])).rejects.toMatchObject({ reason: 'replication' });
  });

  test('a process with a wrong password ends with one line, without the password, however much it logs', async () => {
    const module = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
    const script = `
      const { runProcess } = await import(${module('./run-process.ts')});
      const { openKafka } = await import(${module('./open-kafka.ts')});
      const { kafkaSettings } = await import(${module('./settings.ts')});
      await runProcess({ name: 'testing', version: '0', settings: kafkaSettings,
        compose: async (starting) => { await openKafka('testing', starting.settings, starting); return []; } });`;
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script],
      { env: { PATH: process.env.PATH, LOG_LEVEL: 'debug', ...env({ KAFKA_SASL_PASSWORD: 'wrong-secret' }) } },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    const [code] = await once(child, 'close');
    expect(code).toBe(1);
    expect(output).toContain('Configuration: KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD: the brokers do not accept');
    expect(output).not.toContain('wrong-secret');
  });

  test('the example consumer signs in with the same settings, and ends where it is refused', async () => {
    const main = fileURLToPath(new URL('../../../examples/consumer/src/main.ts', import.meta.url));
    const topic = serviceTopic('example');
    await (await open(env())).ensureTopics([topic]);
    const start = (changes: Environment) =>
      spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
        env: {
          PATH: process.env.PATH,
          TOPIC: topic,
          GROUP: 'example',
          DATABASE: join(folder, 'merges.db'),
          ...env(changes),
        },
      });
    const welcome = start({});
    const [line] = await once(welcome.stdout.setEncoding('utf8'), 'data');
    expect(line).toContain('"message":"started"');
    welcome.kill('SIGTERM');
    expect(await once(welcome, 'exit')).toEqual([0, null]);
    const refused = start({ KAFKA_SASL_PASSWORD: 'wrong-secret' });
    let reason = '';
    refused.stderr.setEncoding('utf8').on('data', (text: string) => (reason += text));
    expect(await once(refused, 'close')).toEqual([2, null]);
    expect(reason).toMatch(/^cannot start: .*[Aa]uthentication failed/m);
    expect(reason).not.toContain('wrong-secret');
  });

  describeMessageBusConformance('Kafka over TLS with a user', {
    createPlace: async () => {
      const ca = await readFile(secure.caFile, 'utf8');
      const sasl = { mechanism: 'scram-sha-512', username: 'bindery', password } as const;
      const settings = { brokers: secure.saslBrokers.split(','), heartbeatMs: 200, commitEveryMs: 20 };
      return {
        open: async () => openKafkaMessageBus({ ...settings, ssl: { ca }, sasl }),
        writeKeyless: writeKeylessToKafka({ brokers: settings.brokers, ssl: { ca }, sasl }),
        loseMessages: loseMessagesOfKafka({ brokers: settings.brokers, ssl: { ca }, sasl }),
        dispose: async () => undefined,
      };
    },
    patienceMs: 15_000,
  });
};

const withBroker = (process.env.KAFKA_BROKERS ?? '') === '' ? describe.skip : describe;
withBroker((process.env.KAFKA_BROKERS ?? '') === '' ? 'SKIPPED: Kafka (KAFKA_BROKERS is not set)' : 'Kafka', suite);
