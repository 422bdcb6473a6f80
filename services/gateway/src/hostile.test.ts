import { connect } from 'node:net';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readBody } from './http/body.ts';
import { type FakeInstance, startFakeInstance } from './testing.ts';

let instance: FakeInstance;
beforeAll(async () => {
  instance = await startFakeInstance({ headersTimeoutMs: 300, requestTimeoutMs: 2000 });
});
afterAll(() => instance.stop());

/** Sends bytes as they are and reads until the other side closes. */
function raw(...parts: readonly (string | Uint8Array)[]): Promise<string> {
  return rawTo(instance.port, ...parts);
}
function rawTo(port: number, ...parts: readonly (string | Uint8Array)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EPIPE' || error.code === 'ECONNRESET' ? undefined : reject(error),
    );
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
    for (const part of parts) socket.write(part);
  });
}

const auth = 'Host: x\r\nAuthorization: Bearer secret\r\n';
const close = 'Connection: close\r\n';

/** Every failure is the envelope, whatever came in. */
function expectFailure(answer: string, status: number): void {
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  expect(head.toLowerCase()).toContain('access-control-allow-origin: *');
  const body: unknown = JSON.parse(rest.join('\r\n\r\n'));
  expect(body).toEqual({ error: { code: status, message: expect.any(String) } });
}

describe('requests that are none', () => {
  test.each<[string, string, number]>([
    ['garbage', 'garbage\r\n\r\n', 400],
    ['no host', `GET /v1 HTTP/1.1\r\n${close}\r\n`, 400],
    [
      'both lengths',
      `POST /v1/things HTTP/1.1\r\n${auth}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['two lengths', `POST /v1/things HTTP/1.1\r\n${auth}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`, 400],
    ['a negative length', `POST /v1/things HTTP/1.1\r\n${auth}Content-Length: -1\r\n\r\n`, 400],
    [
      'a broken chunk',
      `POST /v1/things HTTP/1.1\r\n${auth}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      400,
    ],
    ['NUL in a header', `GET /v1/things HTTP/1.1\r\n${auth}X-A: a\u0000b\r\n\r\n`, 400],
    ['a space in the target', `GET /v1/a b HTTP/1.1\r\n${auth}\r\n`, 400],
    ['large headers', `GET /v1/things HTTP/1.1\r\n${auth}X-A: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
    ['a target beyond the buffer', `GET /v1/${'a'.repeat(50_000)} HTTP/1.1\r\n${auth}\r\n`, 414],
    ['CONNECT', `CONNECT x:1 HTTP/1.1\r\n${auth}\r\n`, 405],
  ])('%s', async (_, bytes, status) => {
    expectFailure(await raw(bytes), status);
  });

  test('headers that do not come to an end', async () => {
    expectFailure(await raw('GET /v1/things HTTP/1.1\r\nHost: x\r\nX-A: '), 408);
  });
  test('a body that does not come to an end', async () => {
    const answer = await raw(
      `POST /v1/things HTTP/1.1\r\n${auth}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    expectFailure(answer, 408);
  });
  test('whoever is told so, reads nothing and does not close is disconnected', async () => {
    const received = Promise.withResolvers<unknown>();
    const patient = await startFakeInstance(
      { headersTimeoutMs: 200, requestTimeoutMs: 300 },
      {
        rawRoutes: [
          {
            method: 'PUT',
            path: '/upload',
            handle: async (request) => {
              try {
                for await (const _ of request);
                received.resolve('all of it');
              } catch (error) {
                received.resolve(Object(error).code);
              }
            },
          },
        ],
      },
    );
    const socket = connect({ port: patient.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(`PUT /upload HTTP/1.1\r\n${auth}Content-Length: 100\r\n\r\na`);
    expect(await received.promise).toBe('ECONNRESET');
    socket.destroy();
    await patient.stop();
  });
  test('whose headers say nothing of a body has sent none', async () => {
    const bodiless = await startFakeInstance(
      {},
      {
        rawRoutes: [
          {
            method: 'POST',
            path: '/form',
            handle: async (request, response) => {
              const form = await readBody(request, response, 1000);
              response.end(`${form.length} bytes`);
            },
          },
        ],
      },
    );
    const answer = await fetch(`http://127.0.0.1:${bodiless.port}/form`, { method: 'POST', body: 'a=b' });
    expect(await answer.text()).toBe('3 bytes');
    expect(await rawTo(bodiless.port, `POST /form HTTP/1.1\r\n${auth}${close}\r\n`)).toMatch(/\r\n\r\n0 bytes$/);
    expect(await rawTo(bodiless.port, `POST /v1/things HTTP/1.1\r\n${auth}${close}\r\n`)).toMatch(
      /^HTTP\/1\.1 400 .*body: is required/s,
    );
    await bodiless.stop();
  });
});

describe('requests that are strange', () => {
  test.each<[string, string, number]>([
    [
      'two Authorization headers',
      `GET /v1/things HTTP/1.1\r\n${auth}Authorization: Bearer secret\r\n${close}\r\n`,
      401,
    ],
    ['an unknown method', `PROPFIND /v1/things HTTP/1.1\r\n${auth}${close}\r\n`, 405],
    ['TRACE', `TRACE /v1/things HTTP/1.1\r\n${auth}${close}\r\n`, 405],
    ['an asterisk', `GET * HTTP/1.1\r\n${auth}${close}\r\n`, 404],
    ['dot segments', `GET /v1/../admin/v1/things HTTP/1.1\r\n${auth}${close}\r\n`, 404],
    ['double slashes', `GET //v1//things HTTP/1.1\r\n${auth}${close}\r\n`, 404],
    ['an encoded slash for a slash', `GET /v1%2Fthings HTTP/1.1\r\n${auth}${close}\r\n`, 404],
    ['NUL in the path', `GET /v1/things/a%00b HTTP/1.1\r\n${auth}${close}\r\n`, 400],
    ['overlong UTF-8', `GET /v1/things/x/pages/%c0%af HTTP/1.1\r\n${auth}${close}\r\n`, 400],
    ['10,000 parameters', `GET /v1/things?${'a&'.repeat(10_000)} HTTP/1.1\r\n${auth}${close}\r\n`, 414],
    ['4,000 parameters', `GET /v1/things?${'a&'.repeat(4000)} HTTP/1.1\r\n${auth}${close}\r\n`, 400],
    [
      'a key that is too long',
      `POST /v1/things HTTP/1.1\r\n${auth}Idempotency-Key: ${'k'.repeat(256)}\r\nContent-Length: 0\r\n${close}\r\n`,
      400,
    ],
  ])('%s', async (_, bytes, status) => {
    expectFailure(await raw(bytes), status);
  });

  test('metrics have one spelling: what keeps them from the outside knows no other', async () => {
    expect(await raw(`GET /metrics HTTP/1.1\r\n${auth}${close}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    for (const path of ['/METRICS', '/metrics/', '/Metrics', '/%6detrics'])
      expectFailure(await raw(`GET ${path} HTTP/1.1\r\n${auth}${close}\r\n`), 404);
  });
  test('an absolute target is reduced to its path', async () => {
    expect(await raw(`GET http://x/v1/things HTTP/1.1\r\n${auth}${close}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  });
  test('HTTP/1.0 is answered and closed', async () => {
    expect(await raw('GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });
  test('pipelined requests are answered in order', async () => {
    const one = `GET /v1/things/x/pages/1 HTTP/1.1\r\n${auth}\r\n`;
    const answer = await raw(
      one,
      one.replace('/1 ', '/2 '),
      one.replace('/1 ', '/3 ').replace('\r\n\r\n', `\r\n${close}\r\n`),
    );
    expect([...answer.matchAll(/"path":"(\d)"/g)].map(([, path]) => path)).toEqual(['1', '2', '3']);
  });
});

describe('bodies', () => {
  const mebibyte = 1024 * 1024;
  const post = (body: Uint8Array<ArrayBuffer> | string, headers: Record<string, string> = {}, path = '/v1/things') =>
    fetch(`${instance.url}${path}`, {
      method: 'POST',
      body,
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json', ...headers },
    });
  const json = (size: number): string => JSON.stringify({ title: 'a', data: 'x'.repeat(size) });
  const exactly = (size: number): string => json(size - json(0).length);

  test('the limit is exact: 1 MiB passes, one byte more does not', async () => {
    expect((await post(exactly(mebibyte))).status).toBe(201);
    expect((await post(exactly(mebibyte + 1))).status).toBe(413);
  });
  test('8 MiB where files are carried', async () => {
    const text = (size: number): string => JSON.stringify({ text: 'x'.repeat(size - 11) });
    expect((await post(text(8 * mebibyte), {}, '/v1/uploads')).status).toBe(200);
    expect((await post(text(8 * mebibyte + 1), {}, '/v1/uploads')).status).toBe(413);
  });
  test('a length that is too large is refused before the body comes', async () => {
    expectFailure(
      await raw(
        `POST /v1/things HTTP/1.1\r\n${auth}Content-Type: application/json\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n`,
      ),
      413,
    );
  });
  test('what else is expected is refused like everything else', async () => {
    const answer = await raw(
      `POST /v1/things HTTP/1.1\r\n${auth}${close}Content-Type: application/json\r\nContent-Length: 13\r\nExpect: 200-maybe\r\n\r\n`,
      '{"title":"a"}',
    );
    expectFailure(answer, 417);
  });
  test('permission to send is given when the headers are good', async () => {
    const answer = await raw(
      `POST /v1/things HTTP/1.1\r\n${auth}${close}Content-Type: application/json\r\nContent-Length: 13\r\nExpect: 100-continue\r\n\r\n`,
      '{"title":"a"}',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
  });
  test('chunks over the limit', async () => {
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const head = `POST /v1/things HTTP/1.1\r\n${auth}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expectFailure(await raw(head, ...Array.from({ length: 20 }, () => chunk)), 413);
  });
  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', (bytes: string | Buffer) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ] as const)('%s is inflated, with the limit on what comes out', async (encoding, compress) => {
    const headers = { 'content-encoding': encoding };
    const bomb = compress(Buffer.alloc(40 * mebibyte, 0x20));
    expect((await post(compress('{"title":"a"}'), headers)).status).toBe(201);
    const before = process.memoryUsage().rss;
    expect((await post(bomb, headers)).status).toBe(413);
    expect(process.memoryUsage().rss - before).toBeLessThan(30 * mebibyte);
    expect((await post('not compressed', headers)).status).toBe(400);
  });
  test('unknown encodings are refused', async () => {
    expect((await post('{}', { 'content-encoding': 'zstd' })).status).toBe(415);
    expect((await post('{}', { 'content-encoding': 'gzip, gzip' })).status).toBe(415);
  });
});

test('a caller that goes away while it is served harms nobody', async () => {
  const gone = new AbortController();
  const pending = fetch(`${instance.url}/v1/misbehave`, {
    method: 'POST',
    body: '{"how":"hang"}',
    headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
    signal: gone.signal,
  });
  while (!instance.service.calls.get('misbehave')) await new Promise((resolve) => setImmediate(resolve));
  gone.abort();
  await expect(pending).rejects.toThrow(/abort/);
  expect((await fetch(`${instance.url}/healthz`)).status).toBe(200);
});
