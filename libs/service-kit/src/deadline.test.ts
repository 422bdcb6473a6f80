import { createServer } from 'node:http';
import { operation } from '@bindery/contracts';
import { noopTelemetry } from '@bindery/telemetry';
import { afterEach, expect, test } from '@jest/globals';
import Type from 'typebox';
import { createHttpClient } from './adapters/http-client.ts';
import { createServiceListener } from './adapters/service-listener.ts';
import { createTransport } from './adapters/transport.ts';
import { createIdSource } from './ids.ts';
import { eraseHandlers, type OperationContext, type OperationHandler, type ServiceClient } from './operation.ts';
import { servicePrincipal } from './principal.ts';

const work = operation({
  ...{ id: 'work', owner: 'content', surface: 'internal', method: 'POST', path: '/work', tag: 'x', summary: 'x' },
  access: 'service',
  success: { 200: Type.Unknown() },
});
const token = 'internal-token';
const nothing = { params: {}, query: {}, body: undefined };

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A service in a process of its own, as far as its callers can tell. */
const serve = async (handler: OperationHandler<typeof work>): Promise<ServiceClient> => {
  const service = {
    ...{ name: 'content', handlers: eraseHandlers({ work: handler }), notReady: () => [] },
    status: () => Promise.reject(new Error('not asked here')),
    rebuild: () => Promise.reject(new Error('not asked here')),
  };
  const server = createServer(
    createServiceListener({ service, rawRoutes: [], tokens: [token], telemetry: noopTelemetry(), ending: () => false }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  const transport = createTransport({ urls: [url], token });
  closers.push(async () => {
    await transport.close();
    server.closeAllConnections();
    server.close();
  });
  return createHttpClient(transport);
};
const context = (withinMs?: number): OperationContext => ({
  principal: servicePrincipal('gateway'),
  requestId: 'r-1',
  now: new Date(),
  ids: createIdSource('seed'),
  signal: new AbortController().signal,
  baseUrl: 'http://docs',
  ...(withinMs !== undefined && { deadlineAt: performance.now() + withinMs }),
});
const leftOf = ({ deadlineAt = Number.NaN }: OperationContext): number => deadlineAt - performance.now();

test('a service that is called by a service has what is left of the first caller’s time', async () => {
  const left: number[] = [];
  const last = await serve(async (given) => {
    left.push(leftOf(given));
    return { status: 200, body: null };
  });
  const first = await serve(async (given) => {
    left.push(leftOf(given));
    const until = performance.now() + 300;
    while (performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10));
    return last.call(work, given, nothing);
  });
  await first.call(work, context(5000), nothing);
  expect(left[0]).toBeLessThanOrEqual(5000);
  expect(left[1]).toBeLessThanOrEqual(4700);
  expect(left[1]).toBeGreaterThan(3000);
});

test('more time than usual is given too, and without a time the usual one', async () => {
  const left: number[] = [];
  const client = await serve(async (given) => {
    left.push(leftOf(given));
    return { status: 200, body: null };
  });
  await client.call(work, context(120_000), nothing);
  await client.call(work, context(), nothing);
  expect(left[0]).toBeGreaterThan(100_000);
  expect(left[1]).toBeGreaterThan(20_000);
  expect(left[1]).toBeLessThanOrEqual(30_000);
});

test('work is given up when its time is over, by both sides, and is not begun after that', async () => {
  let [begun, aborted] = [0, 0];
  const client = await serve(({ signal }) => {
    begun += 1;
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        aborted += 1;
        reject(new Error('given up'));
      });
    });
  });
  const began = performance.now();
  await expect(client.call(work, context(200), nothing)).rejects.toMatchObject({
    ...{ kind: 'unavailable', code: 'deadline.exceeded', retryAfter: 1 },
  });
  expect(performance.now() - began).toBeLessThan(5000);
  while (aborted === 0) await new Promise((resolve) => setImmediate(resolve));
  await expect(client.call(work, context(0), nothing)).rejects.toMatchObject({ code: 'deadline.exceeded' });
  expect([begun, aborted]).toEqual([1, 1]);
});
