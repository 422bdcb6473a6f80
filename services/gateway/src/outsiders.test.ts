import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { eraseHandlers, type OperationContext } from '@bindery/service-kit';
import { createHttpClient } from '@bindery/service-kit/http-client';
import { createRemoteRawRoute } from '@bindery/service-kit/remote-service';
import { createServiceListener } from '@bindery/service-kit/service-listener';
import { createTransport, type Transport } from '@bindery/service-kit/transport';
import { noopTelemetry } from '@bindery/telemetry';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type FakeInstance, startFakeInstance } from './testing.ts';

const serviceToken = 'a token of the services that is long enough';
const route = { method: 'POST', path: '/~raw/{name}' } as const;

/** What only the gateway says to a service, and what nobody within believes of anybody. */
const spoofed = {
  'x-bindery-within-ms': '1',
  'x-bindery-service-token': 'guess',
  'x-bindery-raw-context': Buffer.from(JSON.stringify({ route: '/~raw/{name}', address: '10.0.0.1' })).toString(
    'base64url',
  ),
  'x-bindery-caller': 'somebody-else',
  'x-bindery-not-handled': 'ending',
  'x-bindery-problem': 'e30',
  'x-bindery-anything': 'x',
  forwarded: 'for=10.0.0.1;host=evil.example',
  'x-forwarded-for': '10.0.0.1',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'gopher',
  'x-real-ip': '10.0.0.1',
  baggage: 'user=root',
  tracestate: 'vendor=x',
};

/** A gateway and a service in front of which it stands, over HTTP as in the distributed profile. */
describe('what an outsider sends', () => {
  let instance: FakeInstance;
  let server: Server;
  let transport: Transport;
  let heard: { readonly url: string; readonly headers: IncomingHttpHeaders }[];
  let contexts: Pick<OperationContext, 'principal' | 'baseUrl' | 'deadlineAt'>[];
  let raw: { readonly address: string; readonly baseUrl: string; readonly caller?: string }[];

  beforeAll(async () => {
    const service = {
      ...{ name: 'content', notReady: () => [] },
      status: async () => ({ service: 'content', events: 7, projections: [] }),
      rebuild: () => Promise.reject(new Error('not asked here')),
      handlers: eraseHandlers({
        listThings: async (context: OperationContext) => {
          contexts.push(context);
          return { status: 200, body: { items: [], count: 0 } };
        },
      }),
    };
    const listener = createServiceListener({
      ...{ service, tokens: [serviceToken], telemetry: noopTelemetry(), ending: () => false },
      rawRoutes: [
        {
          ...route,
          handle: async (request, response, context) => {
            raw.push(context);
            request.resume();
            response.setHeader('x-bindery-secret', 'of the service');
            response.end('done');
          },
        },
      ],
    });
    server = createServer((request, response) => {
      heard.push({ url: request.url ?? '', headers: request.headers });
      listener(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
    transport = createTransport({ urls: [url], token: serviceToken });
    instance = await startFakeInstance(
      {},
      {
        services: createHttpClient(transport, { fromOutside: true }),
        rawRoutes: [createRemoteRawRoute(route, transport)],
        resolveToken: async () => ({
          ...{ kind: 'user', id: 'ada', tokenId: 't', instanceAdmin: false, organizations: {} },
        }),
      },
    );
  });
  afterAll(async () => {
    await instance.stop();
    await transport.close();
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    heard = [];
    contexts = [];
    raw = [];
  });

  test('with an operation reaches no service', async () => {
    const headers = { authorization: 'Bearer secret', ...spoofed, traceparent: 'none', 'x-request-id': 'mine' };
    const response = await fetch(`${instance.url}/v1/things`, { headers });
    const body: unknown = await response.json();
    expect(instance.contract.checkResponse('listThings', response.status, body)).toEqual([]);
    expect(response.status).toBe(200);
    expect(heard).toHaveLength(1);
    const [asked] = heard;
    expect(Object.keys(asked?.headers ?? {}).sort()).toEqual([
      ...['connection', 'content-length', 'content-type', 'host', 'x-bindery-caller', 'x-bindery-service-token'],
      ...['x-bindery-within-ms', 'x-request-id'],
    ]);
    expect(asked?.headers).toMatchObject({
      'x-bindery-caller': 'ada',
      'x-bindery-service-token': serviceToken,
      'x-request-id': 'mine',
    });
    // The time that a request has is the instance's to say.
    expect(Number(asked?.headers['x-bindery-within-ms'])).toBeGreaterThan(1000);
    expect(contexts).toMatchObject([{ principal: { id: 'ada', instanceAdmin: false }, baseUrl: instance.url }]);
    expect([...response.headers.keys()].filter((name) => name.startsWith('x-bindery'))).toEqual([]);
  });

  test('with a file or a page reaches the service without what is not theirs to say', async () => {
    const headers = { ...spoofed, connection: 'close, content-type, x-bindery-caller', 'x-own': 'kept' };
    const socket = connect(instance.port, '127.0.0.1');
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST /~raw/a HTTP/1.1\r\nHost: evil.example\r\n${lines.join('')}Content-Length: 2\r\n\r\nhi`);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).not.toMatch(/x-bindery/i);
    const [asked] = heard;
    for (const name of Object.keys(spoofed).filter((one) => !one.startsWith('x-bindery-')))
      expect(asked?.headers[name]).toBeUndefined();
    expect(asked?.headers).toMatchObject({ 'x-bindery-service-token': serviceToken, 'x-own': 'kept' });
    expect(asked?.headers['x-bindery-anything']).toBeUndefined();
    expect(asked?.headers['x-bindery-not-handled']).toBeUndefined();
    expect(asked?.headers['x-bindery-problem']).toBeUndefined();
    expect(asked?.headers['x-bindery-caller']).toBe(encodeURIComponent('address 127.0.0.1'));
    expect(asked?.headers.host).not.toContain('evil');
    expect(raw).toMatchObject([{ address: '127.0.0.1', baseUrl: instance.url }]);
  });

  test.each(['/internal/operations/listThings', '/internal/raw/~raw/a', '/internal/admin/status'])(
    'to %s leads nowhere',
    async (path) => {
      const headers = { ...spoofed, authorization: 'Bearer secret', 'x-bindery-service-token': serviceToken };
      const response = await fetch(`${instance.url}${path}`, { method: 'POST', headers, body: '{}' });
      expect(response.status).toBe(404);
      expect(heard).toEqual([]);
    },
  );

  test.each(['1', '0', '-5', '999999999999'])('as %s ms does not change how long its request may take', async (ms) => {
    const headers = { authorization: 'Bearer secret', 'x-bindery-within-ms': ms };
    expect((await fetch(`${instance.url}/v1/things`, { headers })).status).toBe(200);
    const left = Number(contexts[0]?.deadlineAt) - performance.now();
    expect(left).toBeGreaterThan(1000);
    expect(left).toBeLessThanOrEqual(5000);
  });
});
