import type { RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { operation } from '@bindery/contracts';
import { noopTelemetry } from '@bindery/telemetry';
import { httpServers } from '@bindery/testing/http-servers';
import { afterEach, expect, test } from '@jest/globals';
import Type from 'typebox';
import { GivingUp } from './adapters/giving-up.ts';
import { createHttpClient } from './adapters/http-client.ts';
import { Lane } from './adapters/lane.ts';
import { createRemoteRawRoute, createRemoteService } from './adapters/remote-service.ts';
import { createServiceListener } from './adapters/service-listener.ts';
import { createTransport, type Transport, type TransportCall, type TransportOptions } from './adapters/transport.ts';
import { serviceTokenHeader, withinHeader } from './adapters/wire.ts';
import { createIdSource } from './ids.ts';
import { eraseHandlers, type OperationContext } from './operation.ts';
import { servicePrincipal } from './principal.ts';

const token = 'internal-token';
const servers = httpServers();
afterEach(() => servers.close());

const listen = async (listener: RequestListener): Promise<string> => (await servers.listen(listener)).url;
const transportTo = (url: string, options: Partial<TransportOptions> = {}): Transport => {
  const transport = createTransport({ urls: [url], token, ...options });
  servers.closing(() => transport.close());
  return transport;
};
const dial = (url: string): Socket => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  servers.closing(() => void socket.destroy());
  return socket;
};
const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const send = async (transport: Transport, path: string, more: Partial<TransportCall> = {}): Promise<string> => {
  const never = new AbortController().signal;
  const call = { path, method: 'POST', headers: {}, body: '{}', signal: never, harmless: false, ...more } as const;
  return (await transport.send(call)).body.text();
};
/** A replica that answers when it is told to. */
const holding = async (): Promise<{ readonly url: string; readonly held: Map<string, ServerResponse> }> => {
  const held = new Map<string, ServerResponse>();
  const url = await listen((request, response) => {
    request.resume();
    held.set(String(request.url), response);
  });
  return { url, held };
};
const late = { kind: 'unavailable', code: 'deadline.exceeded' };

test('connections are renewed, so that a replica that is new behind the same address gets its share', async () => {
  const from = new Set<number | undefined>();
  const slow: ServerResponse[] = [];
  const url = await listen((request, response) => {
    from.add(request.socket.remotePort);
    if (request.url === '/slow') slow.push(response);
    else response.end('x');
  });
  const lane = new Lane(url, 4, false, 20);
  const giving = new GivingUp();
  const ask = async (path: string): Promise<string> => {
    const within = performance.now() + 30_000;
    const { body } = await lane.request(within, giving, () => ({ path, method: 'GET' }));
    return body.text();
  };
  const underWay = ask('/slow');
  await until(() => slow.length === 1);
  while (from.size < 4) expect(await ask('/')).toBe('x');
  // What is under way on an old one is not disturbed.
  slow[0]?.end('at last');
  expect(await underWay).toBe('at last');
  await lane.close();
});

const work = operation({
  ...{ id: 'work', owner: 'content', surface: 'internal', method: 'GET', path: '/work', tag: 'x', summary: 'x' },
  access: 'service',
  success: { 200: Type.Unknown() },
});
const context: OperationContext = {
  principal: servicePrincipal('gateway'),
  requestId: 'r-1',
  now: new Date(),
  ids: createIdSource('seed'),
  signal: new AbortController().signal,
  baseUrl: 'http://docs',
};
const serviceOf = (work: () => Promise<{ readonly status: number }>) => ({
  ...{ name: 'content', handlers: eraseHandlers({ work }), notReady: () => [] },
  status: () => Promise.reject(new Error('not asked here')),
  rebuild: () => Promise.reject(new Error('not asked here')),
});
const common = { rawRoutes: [], tokens: [token], telemetry: noopTelemetry(), ending: () => false };

test('transfers that nobody takes leave operations their connections; further ones are told in time', async () => {
  let taken = 0;
  const route = { method: 'GET', path: '/~files/{n}' } as const;
  const endless = {
    ...route,
    handle: (_: unknown, response: ServerResponse) =>
      new Promise<void>((resolve) => {
        taken += 1;
        response.writeHead(200).write('some of it');
        response.once('close', resolve);
      }),
  };
  const service = serviceOf(async () => ({ status: 200 }));
  const url = await listen(createServiceListener({ ...common, service, rawRoutes: [endless] }));
  const transport = transportTo(url, { connections: 2, transferConnections: 3, timeoutMs: 300 });
  const raw = createRemoteRawRoute(route, transport);
  const codes: unknown[] = [];
  const gateway = await listen((request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const known = { params: {}, query: '', requestId: 'r', address: '10.0.0.1', baseUrl: 'http://d', now: new Date() };
    raw
      .handle(request, response, { ...known, signal: gone.signal })
      .catch((error: unknown) => response.end(String(codes.push(Object(error).code))));
  });
  const ask = (): Socket => {
    const socket = dial(gateway).pause();
    socket.write('GET /~files/1 HTTP/1.1\r\nHost: d\r\n\r\n');
    return socket;
  };
  const [first] = [ask(), ask(), ask()];
  await until(() => taken === 3);
  ask();
  await until(() => codes.length > 0);
  expect([codes, taken]).toEqual([['deadline.exceeded'], 3]);
  expect(await createHttpClient(transport).call(work, context, { params: {}, query: {}, body: undefined })).toEqual({
    status: 200,
  });
  // A caller that goes away leaves its connection to the next one.
  first?.destroy();
  ask();
  await until(() => taken === 4);
});

test('what waits for a connection is told when its time is up, or its caller gone, and is not sent after that', async () => {
  const { url, held } = await holding();
  const transport = transportTo(url, { connections: 1 });
  const first = send(transport, '/first');
  await until(() => held.size === 1);
  const caller = new AbortController();
  const gone = send(transport, '/gone', { signal: caller.signal });
  const second = send(transport, '/second');
  await expect(send(transport, '/late', { timeoutMs: 100 })).rejects.toMatchObject(late);
  caller.abort();
  await expect(gone).rejects.toMatchObject(late);
  held.get('/first')?.end('1');
  await until(() => held.has('/second'));
  held.get('/second')?.end('2');
  expect(await Promise.all([first, second])).toEqual(['1', '2']);
  expect([...held.keys()]).toEqual(['/first', '/second']);
});

test('there are connections for all that callers may have under way: the next one is not kept waiting', async () => {
  const { url, held } = await holding();
  const transport = transportTo(url);
  const callers = Array.from({ length: 8 * 32 }, (_, n) => send(transport, `/${n}`));
  await until(() => held.size === callers.length);
  const other = send(transport, '/other');
  await until(() => held.has('/other'));
  for (const response of held.values()) response.end('done');
  expect(new Set(await Promise.all([other, ...callers]))).toEqual(new Set(['done']));
});

test('only so many wait for a connection', async () => {
  const { url, held } = await holding();
  const transport = transportTo(url, { connections: 1, mostOwed: 3 });
  const some = ['/1', '/2', '/3'].map((path) => send(transport, path));
  await expect(send(transport, '/4')).rejects.toMatchObject({ code: 'service.busy' });
  for (const path of ['/1', '/2', '/3']) {
    await until(() => held.has(path));
    held.get(path)?.end(path);
  }
  expect(await Promise.all(some)).toEqual(['/1', '/2', '/3']);
});

test('a body that is never all there has the same time, and leaves its connection', async () => {
  const { url, held } = await holding();
  const transport = transportTo(url, { connections: 1 });
  const body = new Readable({ read: () => undefined });
  const drip = setInterval(() => body.push('a'), 20);
  servers.closing(() => clearInterval(drip));
  await expect(send(transport, '/drip', { body, timeoutMs: 200 })).rejects.toMatchObject(late);
  clearInterval(drip);
  expect([body.destroyed, held.has('/drip')]).toEqual([true, true]);
  const next = send(transport, '/next');
  await until(() => held.has('/next'));
  held.get('/next')?.end('next');
  expect(await next).toBe('next');
});

test('an answer that does not come to its end has the same time; a transfer has as much as its caller needs', async () => {
  const { url, held } = await holding();
  const transport = transportTo(url, { connections: 1 });
  const some = [
    send(transport, '/call', { timeoutMs: 200 }),
    send(transport, '/file', { timeoutMs: 200, transfer: true }),
  ];
  await until(() => held.size === 2);
  for (const response of held.values()) response.writeHead(200).write('half');
  await expect(some[0]).rejects.toMatchObject(late);
  const next = send(transport, '/next');
  await until(() => held.has('/next'));
  for (const path of ['/next', '/file']) held.get(path)?.end(' and half');
  expect(await Promise.all([next, some[1]])).toEqual([' and half', 'half and half']);
});

test('a poll that waits for a connection ends with its process', async () => {
  const { url, held } = await holding();
  const transport = transportTo(url, { connections: 1 });
  const first = send(transport, '/first');
  await until(() => held.size === 1);
  const remote = createRemoteService('content', transport);
  const status = remote.status();
  remote.start();
  await Promise.all([remote.stop(), expect(status).rejects.toMatchObject(late)]);
  held.get('/first')?.end('1');
  expect(await first).toBe('1');
  expect([...held.keys()]).toEqual(['/first']);
});

test('a call whose body does not come has no more time than it was given, and its place is free', async () => {
  let calls = 0;
  const service = serviceOf(async () => ({ status: 200 + calls++ }));
  const admission = { inFlight: 1, waiting: 0, waitMs: 100 };
  const url = await listen(createServiceListener({ ...common, service, admission }));
  const socket = dial(url);
  const head = `Host: d\r\nContent-Length: 100\r\n${serviceTokenHeader}: ${token}\r\n${withinHeader}: 200`;
  socket.write(`POST /internal/operations/work HTTP/1.1\r\n${head}\r\n\r\n{"context"`);
  let answer = '';
  for await (const chunk of socket.setEncoding('utf8')) answer += String(chunk);
  expect(answer).toMatch(/^HTTP\/1\.1 200 .*connection: close.*"code":"deadline\.exceeded"/is);
  const client = createHttpClient(transportTo(url));
  expect(await client.call(work, context, { params: {}, query: {}, body: undefined })).toEqual({ status: 200 });
});
