import { createMemoryCache } from '@bindery/cache/memory';
import { createTelemetry } from '@bindery/telemetry';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type FakeInstance, startFakeInstance } from './testing.ts';

let instance: FakeInstance | undefined;
afterEach(async () => {
  await instance?.stop();
  instance = undefined;
});
const get = (at: FakeInstance, token: string, path = '/v1/things') =>
  fetch(`${at.url}${path}`, { headers: { authorization: `Bearer ${token}` } });

describe('rates', () => {
  test('are counted per token, and told', async () => {
    instance = await startFakeInstance({ rateLimit: { perMinute: 60, burst: 3 } });
    instance.service.token('other');
    const answers = [];
    for (let count = 0; count < 4; count += 1) answers.push(await get(instance, 'secret'));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(['2', '1', '0', '0']);
    const [first, , , last] = answers;
    expect(first?.headers.get('x-ratelimit-limit')).toBe('3');
    expect(last?.headers.get('retry-after')).toBe('1');
    expect(await last?.json()).toEqual({ error: { code: 429, message: expect.stringContaining('Too many requests') } });
    expect((await get(instance, 'other')).status).toBe(200);
  });
  test('failed authentications are counted per address', async () => {
    instance = await startFakeInstance({ failedAuthenticationPerMinute: 3 });
    const statuses = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await get(instance, 'guess')).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
    expect((await get(instance, 'secret')).status).toBe(200);
  });
  test('go on in this process when the cache is away', async () => {
    const away = async (): Promise<never> => {
      throw new Error('cache away');
    };
    const cache = { ...createMemoryCache(), take: away, increment: away, getMany: away };
    instance = await startFakeInstance({ rateLimit: { perMinute: 60, burst: 2 } }, { cache });
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await get(instance, 'secret')).status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});

test('work that takes too long is a 503', async () => {
  instance = await startFakeInstance({ requestDeadlineMs: 50 });
  const sent = await fetch(`${instance.url}/v1/misbehave`, {
    method: 'POST',
    headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
    body: '{"how":"hang"}',
  });
  expect([sent.status, sent.headers.get('retry-after')]).toEqual([503, '1']);
});

describe('the end', () => {
  const slow = (at: FakeInstance) =>
    fetch(`${at.url}/v1/misbehave`, {
      method: 'POST',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
      body: '{"how":"slow"}',
    });
  const begun = async (at: FakeInstance): Promise<void> => {
    while (!at.service.calls.get('misbehave')) await new Promise((resolve) => setImmediate(resolve));
  };

  test('finishes what is in flight and takes nothing new', async () => {
    instance = await startFakeInstance();
    const { gateway, service, url } = instance;
    service.hold();
    await get(instance, 'secret'); // leaves an idle connection
    const pending = slow(instance);
    await begun(instance);
    const stopped = gateway.stop();
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    service.release();
    expect((await pending).status).toBe(200);
    await stopped;
  });
  test('does not wait for ever', async () => {
    instance = await startFakeInstance({ shutdownTimeoutMs: 50 });
    instance.service.hold();
    const pending = slow(instance).catch(() => 'cut');
    await begun(instance);
    await instance.gateway.stop();
    expect(await pending).toBe('cut');
    instance.service.release();
  });
});

test('a refusal for which nobody can do anything is logged once, and then how many there were', async () => {
  const lines: Record<string, unknown>[] = [];
  const telemetry = await createTelemetry({
    ...{ service: 'x', version: '1', logLevel: 'info' },
    stdout: { write: (line: string) => lines.push(JSON.parse(line)) },
  });
  instance = await startFakeInstance({}, { telemetry });
  const ask = (at: FakeInstance) =>
    fetch(`${at.url}/v1/misbehave`, {
      method: 'POST',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
      body: '{"how":"outage"}',
    });
  const answers = await Promise.all(Array.from({ length: 25 }, () => ask(instance as FakeInstance)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  const told = () => lines.filter(({ message }) => message === 'request not served');
  expect(told()).toMatchObject([{ level: 'warn', code: 'event_store.unavailable' }]);
  expect(await telemetry.scrape()).toContain('bindery_requests_total{operation="misbehave",status="503"} 25\n');
  await instance.gateway.stop();
  expect(told().map(({ repeated }) => repeated)).toEqual([undefined, 24]);
});

test('raw routes answer by themselves and fail like everything else', async () => {
  instance = await startFakeInstance(
    {},
    {
      rawRoutes: [
        {
          method: 'GET',
          path: '/files/{file}/{name*}',
          handle: async (_request, response, { params, query }) => {
            if (params.file === 'bad') throw new Error('secret-marker');
            response.writeHead(200, { 'content-type': 'text/plain' });
            response.end(JSON.stringify({ params, query }));
          },
        },
      ],
    },
  );
  const good = await fetch(`${instance.url}/files/f1/a%2Fb/c?sig=x%20y`);
  expect(await good.json()).toEqual({ params: { file: 'f1', name: 'a/b/c' }, query: 'sig=x%20y' });
  expect(good.headers.get('x-request-id')).toBeTruthy();
  const bad = await fetch(`${instance.url}/files/bad/x`);
  expect([bad.status, await bad.json()]).toEqual([
    500,
    { error: { code: 500, message: expect.stringContaining('Request id') } },
  ]);
  expect((await fetch(`${instance.url}/files/f1/x`, { method: 'PUT' })).status).toBe(405);
});
