import type { IncomingMessage, Server } from 'node:http';
import { connect } from 'node:net';
import { operation } from '@bindery/contracts';
import { noopTelemetry } from '@bindery/telemetry';
import { httpServers } from '@bindery/testing/http-servers';
import { afterEach, describe, expect, test } from '@jest/globals';
import Type from 'typebox';
import { createHttpClient } from './adapters/http-client.ts';
import { createRemoteRawRoute, createRemoteService } from './adapters/remote-service.ts';
import { createServiceListener } from './adapters/service-listener.ts';
import { createTransport } from './adapters/transport.ts';
import { conflict, isProblem } from './errors.ts';
import { createIdSource } from './ids.ts';
import { eraseHandlers, type OperationContext } from './operation.ts';
import { servicePrincipal } from './principal.ts';
import type { RawRoute } from './raw-route.ts';

const token = 'internal-token';
const servers = httpServers();
afterEach(() => servers.close());

const transportTo = (...urls: string[]) => {
  const transport = createTransport({ urls, token });
  servers.closing(() => transport.close());
  return transport;
};

const base = { owner: 'content', surface: 'internal', tag: 'x', summary: 'x', access: 'service' } as const;
const write = operation({ ...base, method: 'POST', id: 'write', path: '/w', success: { 200: Type.Unknown() } });
const read = operation({ ...base, method: 'GET', id: 'read', path: '/r', success: { 200: Type.Unknown() } });
const context: OperationContext = {
  principal: servicePrincipal('gateway'),
  requestId: 'r-1',
  now: new Date('2026-01-02T03:04:05.678Z'),
  ids: createIdSource('seed'),
  signal: new AbortController().signal,
  baseUrl: 'http://docs',
};
const request = { params: {}, query: {}, body: undefined };

const echoRoute: RawRoute = {
  method: 'PUT',
  path: '/~echo/{name}',
  async handle(incoming, response, { params, query, address, baseUrl }) {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    response.writeHead(201, { 'content-type': 'text/x', 'x-cookie': String(incoming.headers.cookie) });
    response.end(JSON.stringify([incoming.url, params, query, address, baseUrl, Buffer.concat(chunks).toString()]));
  },
};
const refusing: RawRoute = {
  method: 'GET',
  path: '/~no/{name}',
  handle: () => Promise.reject(conflict('thing.taken', 'Taken: "ü".', { a: 1 })),
};

interface Replica {
  readonly calls: string[];
  ending: boolean;
  missing: string[];
}
const replica = async (): Promise<Replica & { readonly url: string; readonly server: Server }> => {
  const state: Replica = { calls: [], ending: false, missing: [] };
  const handler = (name: string) => async () => {
    state.calls.push(name);
    return { status: 200, body: name };
  };
  const service = {
    name: 'content',
    handlers: eraseHandlers({ read: handler('read'), write: handler('write') }),
    notReady: () => state.missing,
    status: async () => ({ service: 'content', events: 7, projections: [] }),
    rebuild: async (projections?: readonly string[]) => {
      if (projections?.includes('none')) throw conflict('projections.rebuilding', 'Under way.');
      return { events: projections?.length ?? 0, durationMs: 1 };
    },
  };
  const listening = await servers.listen(
    createServiceListener({
      ...{ service, rawRoutes: [echoRoute, refusing], tokens: [token], telemetry: noopTelemetry() },
      ending: () => state.ending,
    }),
  );
  return Object.assign(state, listening);
};

describe('several replicas', () => {
  test('take turns', async () => {
    const [one, two] = [await replica(), await replica()];
    const client = createHttpClient(transportTo(one.url, two.url));
    for (let index = 0; index < 10; index += 1) await client.call(write, context, request);
    expect([one.calls.length, two.calls.length]).toEqual([5, 5]);
  });
  test('one that is gone, or ending, is passed over, also for writes', async () => {
    const [one, two, gone] = [await replica(), await replica(), await replica()];
    gone.server.closeAllConnections();
    gone.server.close();
    one.ending = true;
    const client = createHttpClient(transportTo(gone.url, one.url, two.url));
    for (let index = 0; index < 6; index += 1) await client.call(write, context, request);
    expect([one.calls.length, two.calls.length]).toEqual([0, 6]);
  });
  test('what may have begun is asked again only if it is a read', async () => {
    const seen: string[] = [];
    const { url: breaking } = await servers.listen((incoming) => {
      seen.push(String(incoming.url));
      incoming.socket.destroy();
    });
    const two = await replica();
    const client = createHttpClient(transportTo(breaking, two.url));
    for (let index = 0; index < 4; index += 1) await client.call(read, context, request);
    expect(two.calls).toHaveLength(4);
    seen.length = 0;
    const only = createHttpClient(transportTo(breaking));
    await expect(only.call(write, context, request)).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 1 });
    expect(seen).toHaveLength(1);
  });
});

describe('a frozen replica', () => {
  test('reads are asked elsewhere, and while it owes answers others come first', async () => {
    const silent: IncomingMessage[] = [];
    const { url: frozen } = await servers.listen((incoming) => void silent.push(incoming));
    const two = await replica();
    const client = createHttpClient(transportTo(frozen, two.url));
    const first = Promise.all([client.call(read, context, request), client.call(read, context, request)]);
    while (silent.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const began = performance.now();
    while (performance.now() - began < 1100) await new Promise((resolve) => setTimeout(resolve, 20));
    for (let index = 0; index < 6; index += 1) await client.call(write, context, request);
    expect(silent).toHaveLength(1);
    expect((await first).map(({ body }) => body)).toEqual(['read', 'read']);
  });
});

describe('a service that is slower than its callers', () => {
  test('only so many wait for it; the others are told at once to come again', async () => {
    const waiting: (() => void)[] = [];
    const { url } = await servers.listen((incoming, response) => {
      incoming.resume();
      waiting.push(() => response.end(JSON.stringify({ answer: { status: 200, body: 'late' } })));
    });
    const transport = createTransport({ urls: [url], token, mostOwed: 3 });
    servers.closing(() => transport.close());
    const client = createHttpClient(transport);
    const first = [1, 2, 3].map(() => client.call(write, context, request));
    await expect(client.call(write, context, request)).rejects.toMatchObject({
      ...{ kind: 'unavailable', code: 'service.busy', retryAfter: 1 },
    });
    while (waiting.length < 3) await new Promise((resolve) => setImmediate(resolve));
    for (const answer of waiting.splice(0)) answer();
    expect((await Promise.all(first)).map(({ body }) => body)).toEqual(['late', 'late', 'late']);
    const next = client.call(write, context, request);
    while (waiting.length < 1) await new Promise((resolve) => setImmediate(resolve));
    waiting[0]?.();
    expect(await next).toMatchObject({ body: 'late' });
  });
});

describe('administration', () => {
  test('readiness, status, rebuild and its refusal', async () => {
    const one = await replica();
    one.missing = ['content: starting'];
    const remote = createRemoteService('content', transportTo(one.url));
    servers.closing(() => remote.stop());
    expect(remote.notReady()).toEqual(['not reached yet']);
    remote.start();
    while (remote.notReady()[0] !== 'content: starting') await new Promise((resolve) => setImmediate(resolve));
    one.missing = [];
    while (remote.notReady().length > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await remote.status()).toEqual({ service: 'content', events: 7, projections: [] });
    expect(await remote.rebuild(['a', 'b'])).toEqual({ events: 2, durationMs: 1 });
    await expect(remote.rebuild(['none'])).rejects.toMatchObject({ kind: 'conflict' });
  });
  test('a replica that rebuilds for long is not thought to be frozen', async () => {
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const [one, two] = [await replica(), await replica()];
    const slow = await servers.listen((incoming, response) => {
      if (incoming.url !== '/internal/admin/rebuild') {
        one.calls.push('read');
        response.end(JSON.stringify({ answer: { status: 200, body: 'read' } }));
        return;
      }
      begun.resolve();
      void end.promise.then(() => response.end(JSON.stringify({ answer: { events: 1, durationMs: 1 } })));
    });
    const transport = transportTo(slow.url, two.url);
    const client = createHttpClient(transport);
    await client.call(read, context, request);
    const rebuilding = createRemoteService('content', transport).rebuild(undefined);
    await begun.promise;
    const since = performance.now();
    while (performance.now() - since < 1100) await new Promise((resolve) => setTimeout(resolve, 20));
    const before = one.calls.length;
    for (let index = 0; index < 4; index += 1) await client.call(read, context, request);
    expect(one.calls.length - before).toBe(2);
    end.resolve();
    expect(await rebuilding).toEqual({ events: 1, durationMs: 1 });
  });
  test('health tells the truth and needs no token; everything else does', async () => {
    const one = await replica();
    expect((await fetch(`${one.url}/readyz`)).status).toBe(200);
    one.ending = true;
    expect((await fetch(`${one.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${one.url}/healthz`)).status).toBe(200);
    const refused = await fetch(`${one.url}/internal/admin/status`, { method: 'POST' });
    expect([refused.status, await refused.json()]).toEqual([401, {}]);
  });
  test('a service with another token cannot be reached; nobody is told that they have no access', async () => {
    const one = await replica();
    const transport = createTransport({ urls: [one.url], token: 'another token' });
    servers.closing(() => transport.close());
    const failure = createHttpClient(transport).call(write, context, request);
    await expect(failure).rejects.toMatchObject({
      kind: 'unavailable',
      cause: { message: 'a replica does not accept the SERVICE_TOKEN' },
    });
    expect(one.calls).toEqual([]);
    // Neither does its answer pass for the bytes of a raw route.
    const sent = transport.send({
      path: '/internal/raw/~no/x',
      method: 'GET',
      headers: {},
      signal: context.signal,
      harmless: true,
    });
    await expect(sent).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('headers of raw routes', () => {
  const headersOf = async (sent: string): Promise<NodeJS.Dict<string | string[]>> => {
    let seen: NodeJS.Dict<string | string[]> = {};
    let requests = 0;
    let body = '';
    const service = await servers.listen((incoming, response) => {
      seen = incoming.headers;
      requests += 1;
      response.writeHead(200, { connection: 'close, x-hop', 'x-hop': '1', 'x-bindery-problem-of': 'x', 'x-kept': '1' });
      incoming.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      incoming.once('end', () => response.end('ok'));
    });
    const route = createRemoteRawRoute(echoRoute, transportTo(service.url));
    const gateway = await servers.listen((incoming, response) => {
      const known = { params: {}, query: '', requestId: 'r', address: '10.0.0.1', baseUrl: 'http://d' };
      void route.handle(incoming, response, { ...known, now: new Date(), signal: new AbortController().signal });
    });
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write(sent);
    let answer = '';
    for await (const chunk of socket.setEncoding('utf8')) answer += String(chunk);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toMatch(/x-kept: 1/i);
    expect(answer).not.toMatch(/x-hop|x-bindery/i);
    expect([requests, body]).toEqual([1, 'abc']);
    return seen;
  };
  test('those of one connection stay there, also those that `Connection` names', async () => {
    const seen = await headersOf(
      [
        'PUT /~echo/a HTTP/1.1',
        'Host: d',
        'Connection: close, X-Hop, Content-Length',
        'X-Hop: 1',
        'Proxy-Authorization: Basic x',
        'TE: trailers',
        'X-Bindery-Service-Token: guess',
        'X-Kept: 1',
        'Content-Length: 3',
        '',
        'abc',
      ].join('\r\n'),
    );
    expect(seen).toMatchObject({ 'x-kept': '1', 'content-length': '3', 'x-bindery-service-token': token });
    for (const name of ['x-hop', 'proxy-authorization', 'te']) expect(seen).not.toHaveProperty(name);
  });
  test('a body of unknown length arrives whole, and as one request', async () => {
    const seen = await headersOf(
      'PUT /~echo/a HTTP/1.1\r\nHost: d\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
    );
    // One of the two says how long it is, never both.
    expect('content-length' in seen).not.toBe('transfer-encoding' in seen);
  });
});

describe('raw routes in another process', () => {
  const mounted = async (...routes: RawRoute[]): Promise<string> => {
    const { url } = await servers.listen((incoming, response) => {
      const [route] = routes.filter(({ method }) => method === (incoming.method === 'HEAD' ? 'GET' : incoming.method));
      const known = { params: { name: 'ü' }, query: 'a=1', requestId: 'r', address: '10.0.0.1', baseUrl: 'http://d' };
      route
        ?.handle(incoming, response, { ...known, now: new Date(), signal: new AbortController().signal })
        .catch((error: unknown) => response.writeHead(isProblem(error) ? 409 : 500).end(String(error)));
    });
    return url;
  };
  test('bytes, headers and context pass in both directions', async () => {
    const one = await replica();
    const transport = transportTo(one.url);
    const url = await mounted(createRemoteRawRoute(echoRoute, transport), createRemoteRawRoute(refusing, transport));
    const body = 'ß'.repeat(300_000);
    const headers = { cookie: 'saml=1', 'x-bindery-raw-context': 'forged', 'x-bindery-service-token': 'guess' };
    const answer = await fetch(`${url}/~echo/%C3%BC?a=1`, { method: 'PUT', body, headers });
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('x-cookie')]).toEqual([
      201,
      'text/x',
      'saml=1',
    ]);
    expect(await answer.json()).toEqual(['/~echo/%C3%BC?a=1', { name: 'ü' }, 'a=1', '10.0.0.1', 'http://d', body]);
    const refused = await fetch(`${url}/~no/x`);
    expect([refused.status, await refused.text()]).toEqual([409, 'Error: Taken: "ü".']);
    expect((await fetch(`${url}/~no/x`, { method: 'HEAD' })).status).toBe(409);
  });
});
