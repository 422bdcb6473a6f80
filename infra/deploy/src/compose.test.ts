import { expect, test } from '@jest/globals';
import { type ComposeService, wrongInCompose } from './compose.ts';

const content: ComposeService = {
  image: 'bindery/content:0.1.0',
  build: {},
  read_only: true,
  cap_drop: ['ALL'],
  security_opt: ['no-new-privileges:true'],
  stop_grace_period: '40s',
  healthcheck: { test: ['CMD', 'node', 'health.mjs'], start_period: '3m0s' },
  deploy: { resources: { limits: { cpus: 1, memory: '1' } } },
  depends_on: { preflight: { condition: 'service_completed_successfully' } },
  volumes: [{ type: 'volume', target: '/var/lib/bindery' }],
  environment: {
    PUBLIC_URL: 'http://localhost:3000',
    SERVICE_TOKEN: 'x'.repeat(40),
    MASTER_KEY: '0'.repeat(64),
    MONGODB_URL: 'mongodb://mongodb:27017',
    REDIS_URL: 'redis://redis:6379',
    EVENTSTORE_URL: 'esdb://eventstore:2113?tls=false',
    KAFKA_BROKERS: 'kafka:9092',
    IDENTITY_URL: 'http://identity:8080',
    S3_ENDPOINT: 'http://s3:7070',
    S3_BUCKET: 'bindery',
    S3_ACCESS_KEY_ID: 'key',
    S3_SECRET_ACCESS_KEY: 'secret',
    TMPDIR: '/var/lib/bindery/uploads',
  },
};
const kafka: ComposeService = {
  image: 'apache/kafka:4.3.1',
  deploy: { resources: { limits: { cpus: 1, memory: '1' } } },
  environment: { KAFKA_HEAP_OPTS: '-Xmx512m' },
  healthcheck: { test: ['CMD-SHELL', 'KAFKA_HEAP_OPTS=-Xmx96m kafka-broker-api-versions.sh'] },
};
const wrong = (services: Readonly<Record<string, ComposeService>>): readonly string[] =>
  wrongInCompose({ services }, '.');

test('a sound project has nothing wrong', () => {
  expect(wrong({ content, kafka })).toEqual([]);
});

const { healthcheck: _, ...withoutHealth } = content;

test.each<[string, Readonly<Record<string, ComposeService>>, readonly string[]]>([
  ['no health check', { content: withoutHealth }, ['has no health check', 'must start in less than 180 s']],
  [
    'little time for a start',
    { content: { ...content, healthcheck: { ...content.healthcheck, start_period: '1m0s' } } },
    ['must start in less than 180 s'],
  ],
  [
    'uploads in memory',
    { content: { ...content, environment: { ...content.environment, TMPDIR: null } } },
    ['keeps uploads in memory'],
  ],
  [
    'mail of nobody',
    { identity: { ...content, environment: { ...content.environment, SMTP_URL: 'smtp://mail' } } },
    ['identity is given SMTP_URL without MAIL_FROM'],
  ],
  [
    'a second heap',
    { kafka: { ...kafka, healthcheck: { test: ['CMD-SHELL', 'kafka-broker-api-versions.sh'] } } },
    ['asks for its health with a second heap as large as its own'],
  ],
])('%s is told', (_title, services, expected) => {
  const [name] = Object.keys(services);
  for (const what of expected) expect(wrong(services)).toContain(`${name}: ${what}`);
});
