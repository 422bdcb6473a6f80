import { createServer } from 'node:http';
import { eraseHandlers } from '@bindery/service-kit';
import { createHttpClient } from '@bindery/service-kit/http-client';
import { createServiceListener } from '@bindery/service-kit/service-listener';
import { createTransport } from '@bindery/service-kit/transport';
import { noopTelemetry } from '@bindery/telemetry';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FakeInstance, FakeService, startFakeInstance } from './testing.ts';

/** Holds what looks like the end of an answer, and what is not one byte a character. */
const space = { object: 'space', title: 'Ünïcode "quoted" \u2028 ,"etag":"x"}}', id: 's', 1: { b: 1, a: [{}] } };
let instance: FakeInstance;
const closers: (() => Promise<unknown> | unknown)[] = [];

beforeAll(async () => {
  const service = new FakeService();
  service.token('secret');
  service.things.set('t', { title: 'Thing', owner: null, revision: 3 });
  const handlers = {
    ...eraseHandlers(service.handlers),
    getSpaceById: async () => ({ status: 200, body: space, etag: '5-abc' }),
  };
  const never = () => Promise.reject(new Error('not asked here'));
  const server = createServer(
    createServiceListener({
      service: { name: 'content', handlers, notReady: () => [], status: never, rebuild: never },
      ...{ rawRoutes: [], tokens: ['internal'], telemetry: noopTelemetry(), ending: () => false },
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const transport = createTransport({ urls: [`http://127.0.0.1:${port}`], token: 'internal' });
  instance = await startFakeInstance({}, { services: createHttpClient(transport, { fromOutside: true }) });
  closers.push(
    () => server.close(),
    () => transport.close(),
    () => instance.stop(),
  );
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${instance.url}/v1${path}`, { headers: { authorization: 'Bearer secret', ...headers } });

test('the body of a service is passed on byte by byte, with its length, its tag and its conditions', async () => {
  const answer = await get('/spaces/0123456789abcdefghijkl');
  const text = JSON.stringify(space);
  expect([answer.status, await answer.text()]).toEqual([200, text]);
  expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
  const etag = answer.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"5-abc\.[\w-]{10}"$/);
  const known = await get('/spaces/0123456789abcdefghijkl', { 'if-none-match': etag });
  expect([known.status, await known.text(), known.headers.get('etag')]).toEqual([304, '', etag]);
});

test('what embeds resources is read, and so is what has no tag', async () => {
  const thing = await get('/things/t');
  expect([thing.status, await thing.json()]).toEqual([200, { object: 'thing', id: 't', title: 'Thing', owner: null }]);
  expect(thing.headers.get('etag')).toMatch(/^"3\./);
  expect((await get('/things/none')).status).toBe(404);
});
