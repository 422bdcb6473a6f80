import { createServer, type Server } from 'node:http';
import { operation } from '@bindery/contracts';
import { noopTelemetry } from '@bindery/telemetry';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import Type from 'typebox';
import { createHttpClient } from './adapters/http-client.ts';
import { createServiceListener } from './adapters/service-listener.ts';
import { createTransport } from './adapters/transport.ts';
import { conflict, isProblem, Problem } from './errors.ts';
import { createIdSource } from './ids.ts';
import { createInProcessClient } from './in-process-client.ts';
import { eraseHandlers, type HandlersFor, type OperationContext, type ServiceClient } from './operation.ts';
import { servicePrincipal } from './principal.ts';

const base = {
  owner: 'content',
  surface: 'internal',
  method: 'POST',
  tag: 'x',
  summary: 'x',
  access: 'service',
} as const;
const echo = operation({
  ...base,
  id: 'echo',
  path: '/echo',
  params: Type.Object({ id: Type.String() }),
  query: Type.Object({ deep: Type.Optional(Type.Boolean()) }),
  body: Type.Object({ text: Type.String() }),
  success: { 200: Type.Unknown(), 204: null },
});
const fail = operation({
  ...base,
  id: 'fail',
  path: '/fail',
  body: Type.Object({ how: Type.String() }),
  success: { 204: null },
});
const absent = operation({ ...base, id: 'absent', path: '/absent', success: { 204: null } });

let aborted = 0;
const handlers: HandlersFor<{ echo: typeof echo; fail: typeof fail }> = {
  echo: async ({ principal, requestId, now, ids, baseUrl }, { params, query, body, ifMatch }) => ({
    status: 200,
    body: { principal, requestId, now, id: ids.id().length, baseUrl, params, query, body, ifMatch: ifMatch ?? null },
    etag: '7',
    location: 'http://x/y',
  }),
  fail: async ({ signal }, { body: { how } }) => {
    if (how === 'problem') throw conflict('thing.taken', 'Taken.', { thing: 'a' });
    if (how === 'limited') throw new Problem('rate-limited', 'x', 'slow down', { retryAfter: 7 });
    if (how === 'store') throw Object.assign(new Error('db-1'), { code: 'event_store.unavailable' });
    if (how === 'bug') throw new Error('secret-marker');
    await new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        aborted += 1;
        reject(new Error('aborted'));
      });
    });
    return { status: 204 };
  },
};

const context = (signal = new AbortController().signal): OperationContext => ({
  principal: servicePrincipal('gateway'),
  requestId: 'r-1',
  now: new Date('2026-01-02T03:04:05.678Z'),
  ids: createIdSource('seed'),
  signal,
  baseUrl: 'http://docs',
});
const empty = { params: {}, query: {} };

const token = 'internal-token';
let server: Server;
let url = '';
beforeAll(async () => {
  const service = {
    ...{ name: 'content', handlers: eraseHandlers(handlers), notReady: () => [] },
    status: () => Promise.reject(new Error('not asked here')),
    rebuild: () => Promise.reject(new Error('not asked here')),
  };
  const options = { service, rawRoutes: [], tokens: [token], telemetry: noopTelemetry(), ending: () => false };
  server = createServer(createServiceListener(options));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** The problem that a call ends with. */
async function problemOf(call: Promise<unknown>): Promise<Problem> {
  const error: unknown = await call.then(
    () => new Error('no failure'),
    (failure: unknown) => failure,
  );
  if (!isProblem(error)) throw error;
  return error;
}

/** A client with its connections. */
function overHttp(options: Parameters<typeof createTransport>[0]): ServiceClient & { close(): Promise<void> } {
  const transport = createTransport(options);
  return { call: createHttpClient(transport).call, close: () => transport.close() };
}

const kinds: readonly [string, () => ServiceClient & { close?(): Promise<void> }][] = [
  ['in-process', () => createInProcessClient(eraseHandlers(handlers))],
  ['over HTTP', () => overHttp({ urls: [url], token })],
];

describe.each(kinds)('a client %s', (_, create) => {
  let client: ServiceClient & { close?(): Promise<void> };
  beforeAll(() => {
    client = create();
  });
  afterAll(() => client.close?.());

  test('carries context, request and answer', async () => {
    const request = { params: { id: 'ü/1' }, query: { deep: true }, body: { text: '中\u2028"' }, ifMatch: '6' };
    const answer = await client.call(echo, context(), request);
    expect(answer).toMatchObject({
      status: 200,
      etag: '7',
      location: 'http://x/y',
      body: { principal: { id: 'service:gateway' }, requestId: 'r-1', id: 22, baseUrl: 'http://docs', ...request },
    });
    expect(new Date(Object(answer.body).now)).toEqual(new Date('2026-01-02T03:04:05.678Z'));
  });
  test('a megabyte passes', async () => {
    const text = 'ß'.repeat(1024 * 1024);
    const answer = await client.call(echo, context(), { params: { id: '1' }, query: {}, body: { text } });
    expect(Object(answer.body).body.text).toBe(text);
  });
  test('problems keep kind, code, message, details and time', async () => {
    const taken = await problemOf(client.call(fail, context(), { ...empty, body: { how: 'problem' } }));
    expect(taken).toMatchObject({ kind: 'conflict', code: 'thing.taken', message: 'Taken.', details: { thing: 'a' } });
    const limited = await problemOf(client.call(fail, context(), { ...empty, body: { how: 'limited' } }));
    expect(limited).toMatchObject({ kind: 'rate-limited', retryAfter: 7 });
  });
  test('an operation without a handler is a mistake of ours', async () => {
    const problem = await problemOf(client.call(absent, context(), { ...empty, body: undefined }));
    expect(problem).toMatchObject({ kind: 'internal', code: 'operation.no_handler' });
  });
  test('gives up when the signal aborts, and tells the handler', async () => {
    const before = aborted;
    const controller = new AbortController();
    const pending = problemOf(client.call(fail, context(controller.signal), { ...empty, body: { how: 'hang' } }));
    setImmediate(() => setTimeout(() => controller.abort(), 20));
    expect(await pending).toMatchObject({ kind: 'unavailable', code: 'deadline.exceeded' });
    while (aborted === before) await new Promise((resolve) => setImmediate(resolve));
  });
  test('does not begin when the signal has aborted', async () => {
    const call = client.call(fail, context(AbortSignal.abort()), { ...empty, body: { how: 'bug' } });
    expect(await problemOf(call)).toMatchObject({ code: 'deadline.exceeded' });
  });
  test('twenty at once', async () => {
    const calls = Array.from({ length: 20 }, (_unused, index) =>
      client.call(echo, context(), { params: { id: String(index) }, query: {}, body: { text: '' } }),
    );
    const answers = await Promise.all(calls);
    expect(answers.map((answer) => Object(answer.body).params.id)).toEqual(
      calls.map((_unused, index) => String(index)),
    );
  });
});

describe('over HTTP only', () => {
  test('what a handler throws by accident stays where it is', async () => {
    const client = overHttp({ urls: [url], token });
    const bug = await problemOf(client.call(fail, context(), { ...empty, body: { how: 'bug' } }));
    expect(bug).toMatchObject({ kind: 'internal', message: 'Something went wrong on our side. Request id: r-1' });
    const away = await problemOf(client.call(fail, context(), { ...empty, body: { how: 'store' } }));
    expect(away).toMatchObject({ kind: 'unavailable', code: 'event_store.unavailable' });
    await client.close();
  });
  test('only our own services are heard', async () => {
    const client = overHttp({ urls: [url], token: 'guess' });
    const request = { params: { id: '1' }, query: {}, body: { text: '' } };
    expect(await problemOf(client.call(echo, context(), request))).toMatchObject({ kind: 'unavailable' });
    await client.close();
  });
  test('a service that is away, or silent, is unavailable in time', async () => {
    const away = overHttp({ urls: ['http://127.0.0.1:1'], token });
    const request = { params: { id: '1' }, query: {}, body: { text: '' } };
    expect(await problemOf(away.call(echo, context(), request))).toMatchObject({
      kind: 'unavailable',
      code: 'service.unavailable',
    });
    await away.close();
    const silent = overHttp({ urls: [url], token, timeoutMs: 1000 });
    const hang = silent.call(fail, context(), { ...empty, body: { how: 'hang' } });
    expect(await problemOf(hang)).toMatchObject({ kind: 'unavailable' });
    await silent.close();
  });
});
