import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { operation } from '@bindery/contracts';
import { noopTelemetry } from '@bindery/telemetry';
import { httpServers } from '@bindery/testing/http-servers';
import { afterEach, describe, expect, test } from '@jest/globals';
import Type from 'typebox';
import { createHttpClient } from './adapters/http-client.ts';
import { createRemoteService } from './adapters/remote-service.ts';
import { createServiceListener } from './adapters/service-listener.ts';
import { createTransport, type Transport } from './adapters/transport.ts';
import { createIdSource } from './ids.ts';
import { eraseHandlers, type OperationContext, type OperationHandler } from './operation.ts';
import { servicePrincipal } from './principal.ts';

/*
 * Replicas of this release beside those of the release before it, in which calls had no header for their time and no parked work
 * was administered. What those send and answer is as it was recorded of them.
 */

const token = 'internal-token';
const servers = httpServers();
afterEach(() => servers.close());
const listen = async (listener: RequestListener): Promise<string> => (await servers.listen(listener)).url;
const transportTo = (...urls: string[]): Transport => {
  const transport = createTransport({ urls, token });
  servers.closing(() => transport.close());
  return transport;
};
const work = operation({
  ...{ id: 'work', owner: 'content', surface: 'internal', method: 'GET', path: '/work', tag: 'x', summary: 'x' },
  access: 'service',
  success: { 200: Type.Unknown() },
});
const contextOf = (withinMs?: number): OperationContext => ({
  principal: servicePrincipal('gateway'),
  requestId: 'r-1',
  now: new Date(),
  ids: createIdSource('seed'),
  signal: new AbortController().signal,
  baseUrl: 'http://docs',
  ...(withinMs !== undefined && { deadlineAt: performance.now() + withinMs }),
});
const nothing = { params: {}, query: {}, body: undefined };
const replica = (handler: OperationHandler<typeof work>): Promise<string> => {
  const service = {
    ...{ name: 'content', handlers: eraseHandlers({ work: handler }), notReady: () => [] },
    status: () => Promise.reject(new Error('not asked here')),
    rebuild: () => Promise.reject(new Error('not asked here')),
  };
  return listen(
    createServiceListener({ service, rawRoutes: [], tokens: [token], telemetry: noopTelemetry(), ending: () => false }),
  );
};

/** What the release before made of the time that a call had; a call without one failed there. */
const timeOfOld = (body: { readonly context: { readonly withinMs: number } }): number => {
  const withinMs = Math.min(Math.max(1, body.context.withinMs), 600_000);
  AbortSignal.timeout(withinMs);
  return withinMs;
};
const oldReplica = (): Promise<string> =>
  listen(async (request, response) => {
    const body = JSON.parse(await text(request));
    const result = request.url?.startsWith('/internal/admin/')
      ? {
          problem: { kind: 'not-found', code: 'internal.path', message: 'No such internal path.', details: {} },
        }
      : { answer: { status: 200, body: timeOfOld(body) } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
  });

describe('an older replica', () => {
  test('is told in the body how much time a call has', async () => {
    const client = createHttpClient(transportTo(await oldReplica()));
    const times: number[] = [];
    for (const withinMs of [undefined, 5000.5, 120_000])
      times.push(Number((await client.call(work, contextOf(withinMs), nothing)).body));
    expect(times[0]).toBe(30_000);
    expect(times.slice(1).every(Number.isInteger)).toBe(true);
    expect(times[1]).toBeGreaterThan(4000);
    expect(times[1]).toBeLessThanOrEqual(5001);
    expect(times[2]).toBeGreaterThan(119_000);
  });
  test('cannot administer parked work: the administrator is told to come again, not that nothing is there', async () => {
    const { parked } = createRemoteService('content', transportTo(await oldReplica()));
    await expect(parked.keys({ limit: 10 })).rejects.toMatchObject({
      ...{ kind: 'unavailable', code: 'service.older', retryAfter: 5 },
    });
  });
});

describe('an older gateway', () => {
  test('is answered, and has the time that it is used to', async () => {
    let left = 0;
    const url = await replica(async ({ deadlineAt = 0, principal, ids, now }) => {
      left = deadlineAt - performance.now();
      return { status: 200, body: [principal.id, now.toISOString(), ids.id()] };
    });
    // As the release before sent it.
    const body =
      '{"context":{"principal":{"kind":"service","id":"service:gateway"},"requestId":"r-1","now":"2026-01-02T03:04:05.678Z",' +
      '"idSeed":"LGBsnb2AJ8wyT2jc1V2rTD","baseUrl":"http://docs","withinMs":30000},"request":{"params":{},"query":{}}}';
    const headers = { 'content-type': 'application/json', 'x-request-id': 'r-1', 'x-bindery-service-token': token };
    const answer = await fetch(`${url}/internal/operations/work`, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        answer: {
          status: 200,
          body: ['service:gateway', '2026-01-02T03:04:05.678Z', createIdSource('LGBsnb2AJ8wyT2jc1V2rTD').id()],
        },
      },
    ]);
    expect(left).toBeGreaterThan(25_000);
    expect(left).toBeLessThanOrEqual(30_000);
  });
});
