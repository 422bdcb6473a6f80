import { EventEmitter } from 'node:events';
import { createServer } from 'node:http';
import { operation } from '@bindery/contracts';
import { createTelemetry, type Telemetry } from '@bindery/telemetry';
import { beforeEach, describe, expect, test } from '@jest/globals';
import Type from 'typebox';
import { createHttpClient } from './adapters/http-client.ts';
import { createRemoteService } from './adapters/remote-service.ts';
import { createServiceListener } from './adapters/service-listener.ts';
import { createTransport } from './adapters/transport.ts';
import { type AdmissionLimits, createAdmission } from './admission.ts';
import { createIdSource } from './ids.ts';
import { eraseHandlers } from './operation.ts';
import { servicePrincipal } from './principal.ts';

let telemetry: Telemetry;
beforeEach(async () => {
  telemetry = await createTelemetry({ service: 'x', version: '1', logLevel: 'error' });
});
const admissionOf = (limits: Partial<AdmissionLimits>) =>
  createAdmission({ inFlight: 2, waiting: 2, waitMs: 60_000, ...limits }, telemetry.metrics, 'operations');
const caller = () => new EventEmitter();
const busy = { kind: 'unavailable', code: 'instance.busy', retryAfter: 1 };

test('places first, then a queue in order, then refusals', async () => {
  const admission = admissionOf({});
  expect(admission.enter(caller())).toBeUndefined();
  expect(admission.enter(caller())).toBeUndefined();
  const order: number[] = [];
  const waiting = [1, 2].map((name) => admission.enter(caller())?.then(() => order.push(name)));
  expect(() => admission.enter(caller())).toThrow(expect.objectContaining(busy));
  expect(await telemetry.scrape()).toMatch(/bindery_requests_refused_total\{lane="operations"\} 1\n/);
  expect(await telemetry.scrape()).toMatch(/bindery_requests_waiting\{lane="operations"\} 2\n/);
  admission.leave();
  await waiting[0];
  expect(order).toEqual([1]);
  admission.leave();
  await waiting[1];
  expect(order).toEqual([1, 2]);
  expect(await telemetry.scrape()).toMatch(/bindery_requests_in_flight\{lane="operations"\} 2\n/);
  admission.leave();
  admission.leave();
  expect(admission.enter(caller())).toBeUndefined();
});

test('nobody waits longer than was said, and whoever goes leaves no place behind', async () => {
  const admission = admissionOf({ inFlight: 1, waitMs: 20 });
  admission.enter(caller());
  await expect(admission.enter(caller())).rejects.toMatchObject(busy);
  const impatient = caller();
  const gone = admission.enter(impatient);
  impatient.emit('close');
  await expect(gone).rejects.toMatchObject({ code: 'caller.gone' });
  expect(impatient.listenerCount('close')).toBe(0);
  expect(await telemetry.scrape()).toMatch(/bindery_requests_waiting\{lane="operations"\} 0\n/);
  admission.leave();
  expect(admission.enter(caller())).toBeUndefined();
});

describe('a service', () => {
  test('says that it did not begin what it has no place for, so that another replica is asked; administration has one', async () => {
    const work = operation({
      ...{ id: 'work', owner: 'content', surface: 'internal', method: 'POST', path: '/w', tag: 'x', summary: 'x' },
      access: 'service',
      success: { 200: Type.Unknown() },
    });
    const waiting: (() => void)[] = [];
    const service = {
      ...{
        name: 'content',
        notReady: () => [],
        status: async () => ({ service: 'content', events: 7, projections: [] }),
      },
      handlers: eraseHandlers({
        work: async () => {
          await new Promise<void>((resolve) => waiting.push(resolve));
          return { status: 200, body: null };
        },
      }),
      rebuild: () => Promise.reject(new Error('not asked here')),
    };
    const options = { service, rawRoutes: [], tokens: ['token'], telemetry, ending: () => false };
    const listen = async () => {
      const server = createServer(
        createServiceListener({ ...options, admission: { inFlight: 1, waiting: 0, waitMs: 1000 } }),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const address = server.address();
      return { server, url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}` };
    };
    const [one, two] = [await listen(), await listen()];
    const transport = createTransport({ urls: [one.url, two.url], token: 'token' });
    const client = createHttpClient(transport);
    const context = {
      ...{ principal: servicePrincipal('gateway'), requestId: 'r', now: new Date(), ids: createIdSource('seed') },
      ...{ signal: new AbortController().signal, baseUrl: 'http://docs' },
    };
    const ask = () => client.call(work, context, { params: {}, query: {}, body: undefined });
    try {
      const first = [ask(), ask()];
      while (waiting.length < 2) await new Promise((resolve) => setImmediate(resolve));
      await expect(ask()).rejects.toMatchObject({ kind: 'unavailable', code: 'service.busy', retryAfter: 1 });
      expect(await createRemoteService('content', transport).status()).toMatchObject({ events: 7 });
      expect(waiting).toHaveLength(2);
      for (const go of waiting) go();
      expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    } finally {
      await transport.close();
      for (const { server } of [one, two]) {
        server.closeAllConnections();
        server.close();
      }
    }
  });
});
