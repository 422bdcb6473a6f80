import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, expect, test } from '@jest/globals';
import { type FakeInstance, startFakeInstance } from './testing.ts';

/** One place of each kind; whoever waits for it is refused soon. */
const admission = { inFlight: 1, waiting: 1, waitMs: 100 };
let instance: FakeInstance | undefined;
let socket: Socket | undefined;
afterEach(async () => {
  socket?.destroy();
  await instance?.stop();
  instance = undefined;
});

const open = (port: number, head: readonly string[], rest: string): Socket => {
  socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`${[...head, 'Host: x', 'Authorization: Bearer secret'].join('\r\n')}\r\n\r\n${rest}`);
  return socket;
};
const statusOf = async (path: string): Promise<number> => {
  const response = await fetch(`${instance?.url}${path}`, { headers: { authorization: 'Bearer secret' } });
  await response.arrayBuffer();
  return response.status;
};
/** How long it takes, in ms, until there is no place, and then until there is one again. */
const freed = async (path: string): Promise<number> => {
  while ((await statusOf(path)) !== 503);
  const since = performance.now();
  while ((await statusOf(path)) !== 200) await new Promise((resolve) => setTimeout(resolve, 20));
  return performance.now() - since;
};

test('a body that comes too slowly takes a place no longer than the time of the request', async () => {
  instance = await startFakeInstance({ admission, requestDeadlineMs: 300, requestTimeoutMs: 10_000 });
  const slow = open(instance.port, ['POST /v1/things HTTP/1.1', 'Content-Length: 99'], '{');
  const answered = new Promise<string>((resolve) => slow.once('data', (data) => resolve(String(data))));
  expect(await freed('/v1/things')).toBeLessThan(5000);
  expect(await answered).toMatch(/^HTTP\/1\.1 503 .*not finished in time/s);
});

test('a transfer of which nothing is taken is given up', async () => {
  const big = Buffer.alloc(1024 * 1024);
  instance = await startFakeInstance(
    { admission, stalledMs: 200 },
    {
      rawRoutes: [
        {
          method: 'GET',
          path: '/~raw/{size}',
          handle: (_request, response, { params }) =>
            pipeline(Readable.from(Array.from({ length: Number(params.size) }, () => big)), response),
        },
      ],
    },
  );
  open(instance.port, ['GET /~raw/64 HTTP/1.1'], '').pause();
  expect(await freed('/~raw/1')).toBeLessThan(5000);
});
