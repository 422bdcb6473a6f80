import { type Cluster, openServers, type Servers, startCluster } from '@bindery/testing/cluster';
import {
  assertTree,
  drawTrace,
  type OtlpReceiver,
  organizationTree,
  startOtlpReceiver,
  treeProblem,
} from '@bindery/testing/telemetry';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { call } from './api.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

const createOrganization = organizationTree({ eventStore: 'eventstoredb', readStore: 'mongodb', bus: 'kafka' });

let servers: Servers;
let collector: OtlpReceiver;
let cluster: Cluster;
beforeAll(async () => {
  servers = await openServers();
  collector = await startOtlpReceiver();
  cluster = await startCluster({
    servers: servers.environment,
    ...{ gateways: 1, contents: 1 },
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint },
  });
}, 180_000);
afterAll(async () => {
  await cluster?.stop();
  await collector?.close();
  await servers?.release();
}, 60_000);

test('one trace goes from the request through three processes, the event store, the read store and Kafka', async () => {
  const answer = await call(cluster, cluster.gateways[0]?.url ?? '', 'POST', '/v1/orgs', {
    body: { title: 'Traced', emailDomains: [] },
    headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
  });
  expect(answer.status).toBe(201);
  const problem = (): string => treeProblem(collector.spans, traceId, createOrganization) ?? '';
  await collector.until(() => problem() === '', 60_000, problem);
  assertTree(collector.spans, traceId, createOrganization);
  process.stdout.write(`\n${drawTrace(collector.spans.filter((span) => span.traceId === traceId))}\n`);
}, 120_000);
