import { IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import { createTelemetry, type Telemetry } from '@bindery/telemetry';
import { afterEach, describe, expect, test } from '@jest/globals';
import { callerNetwork, createCallers } from './pipeline/callers.ts';
import { callerAddress } from './pipeline/context.ts';
import { type FakeInstance, startFakeInstance } from './testing.ts';

let instance: FakeInstance | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await instance?.stop();
  instance = undefined;
});

const requestWith = (headers: Record<string, string>): IncomingMessage =>
  Object.assign(new IncomingMessage(new Socket()), { headers });

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['unknown', 'unknown'],
])('the address %s is the caller %s', (address, network) => expect(callerNetwork(address)).toBe(network));

test.each([
  [0, '203.0.113.9', '127.0.0.1'],
  [1, '203.0.113.9', '203.0.113.9'],
  [1, 'spoofed, 203.0.113.9', '203.0.113.9'],
  [2, '203.0.113.9, 10.0.0.1', '203.0.113.9'],
  [2, '203.0.113.9', '127.0.0.1'],
  [1, '203.0.113.9:4711', '203.0.113.9'],
  [1, '[2001:db8::1]:4711', '2001:db8::1'],
  [1, '2001:db8::1', '2001:db8::1'],
  [1, 'x'.repeat(10_000), '127.0.0.1'],
  [1, '', '127.0.0.1'],
])('behind %d proxies that say "%s" the address is %s', (hops, header, address) => {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: '127.0.0.1' });
  const request = Object.assign(new IncomingMessage(socket), { headers: { 'x-forwarded-for': header } });
  expect(callerAddress(request, hops)).toBe(address);
});

test('credentials count for their user once they have worked, and for the address before and afterwards', () => {
  const callers = createCallers(() => 'http://docs');
  const request = requestWith({ authorization: 'Bearer a' });
  expect(callers.of(request, '192.0.2.1')).toBe('address 192.0.2.1');
  expect(callers.known(request, 'ada')).toBe('user ada');
  expect(callers.of(request, '192.0.2.2')).toBe('user ada');
  expect(callers.of(requestWith({ authorization: 'Bearer b' }), '192.0.2.2')).toBe('address 192.0.2.2');
  expect(callers.of(requestWith({}), '192.0.2.2')).toBe('address 192.0.2.2');
  callers.unknown(request);
  expect(callers.of(request, '192.0.2.1')).toBe('address 192.0.2.1');
});

test('of many credentials those that were used last are remembered', () => {
  const callers = createCallers(() => 'http://docs');
  const named = (name: number) => requestWith({ authorization: `Bearer ${name}` });
  for (let name = 0; name < 10_000; name += 1) callers.known(named(name), 'ada');
  callers.known(named(0), 'ada');
  callers.known(named(10_000), 'ada');
  expect([0, 1, 2, 10_000].map((name) => callers.of(named(name), '192.0.2.1'))).toEqual([
    'user ada',
    'address 192.0.2.1',
    'user ada',
    'user ada',
  ]);
});

describe('wrong tokens', () => {
  test('of one address ask identity for no more at once than its share, whoever is administrated or not', async () => {
    const asked = { now: 0, most: 0 };
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const telemetry = await createTelemetry({ service: 'x', version: '1', logLevel: 'error' });
    instance = await startFakeInstance(
      {
        trustedProxyHops: 1,
        requestDeadlineMs: 60_000,
        admission: { inFlight: 16, waiting: 4, waitMs: 60_000, perCaller: 4 },
      },
      {
        telemetry,
        resolveToken: async (_hash, context, address) => {
          if (address === '192.0.2.1')
            return { kind: 'user', id: 'ada', tokenId: 't', instanceAdmin: true, organizations: {} };
          asked.now += 1;
          asked.most = Math.max(asked.most, asked.now);
          await held;
          context.signal.throwIfAborted();
          asked.now -= 1;
          return null;
        },
      },
    );
    const { url } = instance;
    const get = async (path: string, token: string, from: string): Promise<number> => {
      const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': from };
      const response = await fetch(`${url}${path}`, { headers });
      await response.arrayBuffer();
      return response.status;
    };
    // Given an address that tries tokens, each only once,
    const guesses = Array.from({ length: 30 }, (_, guess) => get('/v1/things', `guess-${guess}`, '198.51.100.1'));
    expect(await Promise.any(guesses)).toBe(429);
    expect(asked.most).toBe(4);
    // and the same of administration,
    const admin = Array.from({ length: 200 }, (_, n) => get('/admin/v1/things', `admin-${n}`, '198.51.100.1'));
    expect(await Promise.any(admin)).toBe(429);
    expect(asked.most).toBe(8);
    // others, whom nobody knows here yet, are answered.
    expect(await get('/v1/things', 'good', '192.0.2.1')).toBe(200);
    expect(await get('/admin/v1/things', 'good', '192.0.2.1')).toBe(200);
    release();
    expect(new Set(await Promise.all([...guesses, ...admin]))).toEqual(new Set([401, 429]));
  });
});

describe('connections', () => {
  const ends = new WeakMap<Socket, Promise<void>>();
  const open = (port: number, text = ''): Socket => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('error', () => undefined);
    sockets.push(socket);
    ends.set(socket, new Promise((resolve) => socket.once('close', () => resolve())));
    return socket;
  };
  const closed = (socket: Socket) => ends.get(socket);
  const figure = async (telemetry: Telemetry, name: string) =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(await telemetry.scrape())?.[1]);
  const start = async (connections: { all: number; perAddress?: number }) => {
    const telemetry = await createTelemetry({ service: 'x', version: '1', logLevel: 'error' });
    const started = await startFakeInstance({ connections }, { telemetry });
    instance = started;
    const opened = async (count: number): Promise<void> => {
      while ((await figure(telemetry, 'bindery_connections')) < count) await new Promise((go) => setImmediate(go));
    };
    return { started, telemetry, opened };
  };
  const slow = 'POST /v1/misbehave HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n';
  const hanging = `${slow}Content-Type: application/json\r\nContent-Length: 14\r\n\r\n{"how":"hang"}`;

  test.each([{ all: 4 }, { all: 100, perAddress: 4 }])(
    'of %j the one that is idle for longest gives way to a new one; one with a request stays',
    async (limits) => {
      const { started, telemetry, opened } = await start(limits);
      const busy = open(started.port, hanging);
      while (started.service.calls.get('misbehave') !== 1) await new Promise((go) => setImmediate(go));
      const idle = open(started.port);
      await opened(2);
      const half = open(started.port, 'GET /v1/things HT');
      await opened(3);
      open(started.port);
      await opened(4);
      const response = await fetch(`${started.url}/v1/things`, { headers: { authorization: 'Bearer secret' } });
      expect(response.status).toBe(200);
      await closed(idle);
      expect([busy.closed, half.closed]).toEqual([false, false]);
      open(started.port);
      await closed(half);
      expect(busy.closed).toBe(false);
      expect(await figure(telemetry, 'bindery_connections')).toBe(4);
    },
  );

  test('one on which too many requests wait for their answers is closed, and what came with them is not begun', async () => {
    const { started, telemetry } = await start({ all: 100 });
    const flood = `${hanging}${'GET /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n\r\n'.repeat(200)}`;
    await closed(open(started.port, flood));
    expect(await telemetry.scrape()).toContain('bindery_connections_closed_total{reason="pipelined"} 1\n');
    expect(started.service.calls.get('listThings') ?? 0).toBeLessThan(32);
    const response = await fetch(`${started.url}/v1/things`, { headers: { authorization: 'Bearer secret' } });
    expect(response.status).toBe(200);
  });

  test('a new one is closed when there is a request on each', async () => {
    const { started, telemetry } = await start({ all: 2 });
    for (const count of [1, 2]) {
      open(started.port, hanging);
      while (started.service.calls.get('misbehave') !== count) await new Promise((go) => setImmediate(go));
    }
    await closed(open(started.port));
    expect(await telemetry.scrape()).toContain('bindery_connections_closed_total{reason="all"} 1\n');
  });
});
