import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { httpServers } from '@bindery/testing/http-servers';
import { afterEach, expect, test } from '@jest/globals';
import { createRemoteRawRoute } from './adapters/remote-service.ts';
import { createTransport, type Transport, type TransportOptions } from './adapters/transport.ts';
import { notHandledHeader } from './adapters/wire.ts';

const servers = httpServers();
afterEach(() => servers.close());

const listen = async (
  listener: RequestListener,
): Promise<{ readonly url: string; readonly server: Server; readonly sockets: Set<Socket> }> => {
  const { url, server } = await servers.listen(listener);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return { url, server, sockets };
};
const transportTo = (urls: readonly string[], options: Partial<TransportOptions> = {}): Transport => {
  const transport = createTransport({ urls, token: 'internal-token', ...options });
  servers.closing(() => transport.close());
  return transport;
};
const call = async (transport: Transport, harmless: boolean, signal = new AbortController().signal) => {
  const response = await transport.send({ path: '/x', method: 'POST', headers: {}, body: '{}', signal, harmless });
  return response.body.text();
};
const goneUrl = async (): Promise<string> => {
  const { url, server } = await listen((_, response) => response.end());
  await new Promise((resolve) => server.close(resolve));
  return url;
};
const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

test('a read waits for a slow replica when the other one is gone', async () => {
  let asked = 0;
  const slow = await listen((_, response) => {
    asked += 1;
    setTimeout(() => response.end('late'), 3500);
  });
  const transport = transportTo([await goneUrl(), slow.url]);
  // Whichever comes first: the slow one is asked once, and heard.
  expect(await Promise.all([call(transport, true), call(transport, true)])).toEqual(['late', 'late']);
  expect(asked).toBe(2);
}, 15_000);

test('a read that is answered elsewhere is given up where it was slow, and one whose caller is gone everywhere', async () => {
  let [asked, given] = [0, 0];
  const frozen = await listen((_, response) => {
    asked += 1;
    response.once('close', () => (given += 1));
  });
  const quick = await listen((_, response) => response.end('quick'));
  const first = transportTo([quick.url, frozen.url]);
  expect(await call(first, true)).toBe('quick');
  await until(() => given === 1);

  const caller = new AbortController();
  const second = transportTo([frozen.url, frozen.url]);
  const read = call(second, true, caller.signal);
  await until(() => asked === 2);
  caller.abort();
  await expect(read).rejects.toMatchObject({ code: 'deadline.exceeded' });
  await until(() => given === 2);
}, 15_000);

test('the caller who goes in the middle of an answer ends it, also after others were asked beside', async () => {
  let [begun, ended] = [false, false];
  const streaming = await listen((_, response) => {
    response.write('half', () => (begun = true));
    response.once('close', () => (ended = true));
  });
  const caller = new AbortController();
  const transport = transportTo([streaming.url, await goneUrl()]);
  const read = call(transport, true, caller.signal);
  await until(() => begun);
  caller.abort();
  await expect(read).rejects.toThrow();
  await until(() => ended);
});

test('a replica that says that it ends is left: no idle connection to it is kept that it could close in use', async () => {
  let ending = false;
  const waiting: (() => void)[] = [];
  const one = await listen((_, response) => {
    if (ending) response.writeHead(503, { [notHandledHeader]: 'ending', connection: 'close' }).end();
    else waiting.push(() => response.end('one'));
  });
  const transport = transportTo([one.url]);
  const some = Array.from({ length: 5 }, () => call(transport, false));
  await until(() => waiting.length === 5);
  for (const answer of waiting.slice(0, 4)) answer();
  await Promise.all(some.slice(0, 4));
  expect(one.sockets.size).toBe(5);
  ending = true;
  await expect(call(transport, false)).rejects.toMatchObject({ code: 'service.unavailable' });
  // What is under way is finished; nothing else is left open.
  await until(() => one.sockets.size === 1);
  waiting[4]?.();
  expect(await some[4]).toBe('one');
  await until(() => one.sockets.size === 0);
});

test('one that is busy is passed over; when all are, the caller is told so', async () => {
  const busy = await listen((_, response) => response.writeHead(503, { [notHandledHeader]: 'busy' }).end());
  const free = await listen((_, response) => response.end('free'));
  expect(await call(transportTo([free.url, busy.url]), false)).toBe('free');
  await expect(call(transportTo([busy.url, busy.url]), false)).rejects.toMatchObject({
    ...{ kind: 'unavailable', code: 'service.busy', retryAfter: 1 },
  });
});

test.each([
  [{}, 2],
  [{ once: true } as const, 1],
])('a raw GET %j that breaks off is asked %d times', async (how, times) => {
  let asked = 0;
  const broken = await listen((request) => {
    asked += 1;
    request.socket.destroy();
  });
  const route = createRemoteRawRoute({ method: 'GET', path: '/x', ...how }, transportTo([broken.url, broken.url]));
  const known = { params: {}, query: '', requestId: 'r', address: '10.0.0.1', baseUrl: 'http://d', now: new Date() };
  let code: unknown;
  const gateway = await listen((request, response) => {
    route.handle(request, response, { ...known, signal: new AbortController().signal }).catch((error: unknown) => {
      code = Object(error).code;
      response.end();
    });
  });
  await (await fetch(`${gateway.url}/x`)).arrayBuffer();
  expect([code, asked]).toEqual(['service.unavailable', times]);
});

const overShare = { kind: 'rate-limited', code: 'rate.share', retryAfter: 1 };

test('a replica that has no place for a caller is not asked again for it', async () => {
  let asked = 0;
  const { url } = await listen((request, response) => {
    asked += 1;
    request.resume();
    response.writeHead(503, { [notHandledHeader]: 'share' }).end('{}');
  });
  await expect(call(transportTo([url]), true)).rejects.toMatchObject(overShare);
  expect(asked).toBe(1);
});

test('another replica is asked for that caller, and other calls go to both as before', async () => {
  let refused = 0;
  const full = await listen((request, response) => {
    refused += 1;
    request.resume();
    response.writeHead(503, { [notHandledHeader]: 'share' }).end('{}');
  });
  const free = await listen((_, response) => response.end('free'));
  const transport = transportTo([full.url, free.url]);
  for (let count = 0; count < 6; count += 1) expect(await call(transport, false)).toBe('free');
  expect(refused).toBe(3);
});
