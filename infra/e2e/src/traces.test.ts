import {
  assertTree,
  type OtlpReceiver,
  organizationTree,
  startOtlpReceiver,
  treeProblem,
} from '@bindery/testing/telemetry';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { request } from './support.ts';
import { startTracedServices, type TracedServices } from './traced-services.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const caller = `00-${traceId}-00f067aa0ba902b7-01`;

const createOrganization = organizationTree({ eventStore: 'sqlite', readStore: 'sqlite', bus: 'embedded' });

describe('one trace', () => {
  let collector: OtlpReceiver;
  let services: TracedServices;
  beforeAll(async () => {
    collector = await startOtlpReceiver();
    services = await startTracedServices(collector.endpoint);
  });
  afterAll(async () => {
    await services.stop();
    await collector.close();
  });

  test('follows a POST through gateway, service, append, projection and bus to the work of another service', async () => {
    const answer = await request(services, 'POST', '/v1/orgs', {
      body: { title: 'Traced', emailDomains: [] },
      headers: { traceparent: caller },
    });
    expect(answer.status).toBe(201);
    const problem = (): string => treeProblem(collector.spans, traceId, createOrganization) ?? '';
    await collector.until(() => problem() === '', 15_000, problem);
    assertTree(collector.spans, traceId, createOrganization);
  });

  test('holds no personal data and no secret, whatever the caller sends', async () => {
    const marker = 'marker-7f3a';
    const send = (path: string, body: unknown) =>
      request(services, 'POST', path, { body, headers: { traceparent: caller, cookie: `session=${marker}` } });
    const invited = await send(`/v1/orgs/${services.organizationId}/invites`, {
      emails: [`${marker}@example.com`],
      role: 'read',
    });
    expect(invited.status).toBeLessThan(300);
    await send('/v1/orgs', { title: marker, emailDomains: [`${marker}.example.com`] });
    await request(services, 'GET', `/v1/orgs/${services.organizationId}/members?search=${marker}`);
    await request({ ...services, token: marker }, 'GET', '/v1/user');
    const seen = (name: string): boolean => collector.spans.some((span) => span.name === name);
    await collector.until(() => seen('POST /v1/orgs/{organizationId}/invites') && seen('GET /v1/user'), 15_000);
    const text = JSON.stringify(collector.spans);
    expect(text).not.toContain(marker);
    expect(text).not.toContain(services.token);
    expect(text).not.toContain('internal-token');
    expect(text).not.toContain('admin@example.com');
  });
});
