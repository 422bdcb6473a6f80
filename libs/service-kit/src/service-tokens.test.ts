import { createServer, type RequestListener } from 'node:http';
import { operation } from '@bindery/contracts';
import { noopTelemetry } from '@bindery/telemetry';
import { afterEach, describe, expect, test } from '@jest/globals';
import Type from 'typebox';
import { createHttpClient } from './adapters/http-client.ts';
import { createServiceListener } from './adapters/service-listener.ts';
import { createTransport, type Transport } from './adapters/transport.ts';
import { ConfigError, readConfig } from './config.ts';
import { createIdSource } from './ids.ts';
import { eraseHandlers, type OperationContext } from './operation.ts';
import { servicePrincipal } from './principal.ts';
import { acceptedTokens, createTokenCheck, serviceTokenSettings } from './service-tokens.ts';

const old = 'the-old-token-000000000000000000000';
const next = 'the-next-token-00000000000000000000';
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const write = operation({
  ...{ owner: 'content', surface: 'internal', tag: 'x', summary: 'x', access: 'service' },
  ...{ method: 'POST', id: 'write', path: '/w', success: { 200: Type.Unknown() } },
} as const);
const context: OperationContext = {
  principal: servicePrincipal('gateway'),
  requestId: 'r-1',
  now: new Date('2026-01-02T03:04:05.678Z'),
  ids: createIdSource('seed'),
  signal: new AbortController().signal,
  baseUrl: 'http://docs',
};

/** A process that listens and calls others; `restart` gives it other settings at the same address. */
const startProcess = async (env: Readonly<Record<string, string>>) => {
  let listener: RequestListener = () => undefined;
  let transports: Transport[] = [];
  let settings = readConfig(serviceTokenSettings, env);
  const server = createServer((request, response) => listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  const end = () => Promise.all(transports.splice(0).map((transport) => transport.close()));
  const service = {
    name: 'content',
    handlers: eraseHandlers({ write: async () => ({ status: 200, body: 'written' }) }),
    notReady: () => [],
    status: async () => ({ service: 'content', events: 0, projections: [] }),
    rebuild: async () => ({ events: 0, durationMs: 0 }),
  };
  const restart = async (given: Readonly<Record<string, string>>): Promise<void> => {
    await end();
    transports = [];
    settings = readConfig(serviceTokenSettings, given);
    listener = createServiceListener({
      ...{ service, rawRoutes: [], tokens: acceptedTokens(settings), telemetry: noopTelemetry(), ending: () => false },
    });
  };
  await restart(env);
  closers.push(async () => {
    await end();
    server.closeAllConnections();
    server.close();
  });
  const call = async (other: string): Promise<unknown> => {
    const transport = createTransport({ urls: [other], token: settings.SERVICE_TOKEN });
    transports.push(transport);
    const answer = createHttpClient(transport).call(write, context, { params: {}, query: {}, body: undefined });
    return answer.then(
      ({ body }) => body,
      (error: unknown) => Object(Object(error).cause).message,
    );
  };
  return { url, restart, call };
};

/** Restarts the processes one after the other; after each, everybody calls everybody. @returns the failures */
const rollOut = async (
  processes: readonly Awaited<ReturnType<typeof startProcess>>[],
  env: Readonly<Record<string, string>>,
): Promise<readonly unknown[]> => {
  const failures: unknown[] = [];
  for (const one of processes) {
    await one.restart(env);
    for (const caller of processes)
      for (const called of processes) {
        const outcome = await caller.call(called.url);
        if (outcome !== 'written') failures.push(outcome);
      }
  }
  return failures;
};

describe('replacing the token of an instance', () => {
  test('in three roll-outs fails no call, whoever has restarted so far', async () => {
    const before = { SERVICE_TOKEN: old };
    const processes = [await startProcess(before), await startProcess(before), await startProcess(before)];
    expect(await rollOut(processes, { SERVICE_TOKEN: old, SERVICE_TOKENS_ACCEPTED: next })).toEqual([]);
    expect(await rollOut(processes, { SERVICE_TOKEN: next, SERVICE_TOKENS_ACCEPTED: old })).toEqual([]);
    expect(await rollOut(processes, { SERVICE_TOKEN: next })).toEqual([]);
    const left = await startProcess(before);
    for (const { url } of processes) expect(await left.call(url)).toBe('a replica does not accept the SERVICE_TOKEN');
  });

  test('can be taken back at every step', async () => {
    const before = { SERVICE_TOKEN: old };
    const processes = [await startProcess(before), await startProcess(before)];
    expect(await rollOut(processes, { SERVICE_TOKEN: old, SERVICE_TOKENS_ACCEPTED: next })).toEqual([]);
    expect(await rollOut(processes, { SERVICE_TOKEN: next, SERVICE_TOKENS_ACCEPTED: old })).toEqual([]);
    expect(await rollOut(processes, { SERVICE_TOKEN: old, SERVICE_TOKENS_ACCEPTED: next })).toEqual([]);
    expect(await rollOut(processes, before)).toEqual([]);
  });

  test('at once is what fails', async () => {
    const processes = [await startProcess({ SERVICE_TOKEN: old }), await startProcess({ SERVICE_TOKEN: old })];
    expect(await rollOut(processes, { SERVICE_TOKEN: next })).toHaveLength(2);
  });
});

describe('the accepted tokens', () => {
  test('are each compared whole', () => {
    const accepts = createTokenCheck([old, next]);
    expect([old, next].map(accepts)).toEqual([true, true]);
    const longest = [old, next].toSorted((a, b) => a.length - b.length).at(-1) ?? '';
    const more = ['x', '\0', '€', '\u{1f512}', '\ud83d', old, 'x'.repeat(5000)].flatMap((end) => [
      old + end,
      longest + end,
    ]);
    const others = [...more, old.slice(0, -1), next.slice(1), '', '\0', `${old},${next}`];
    expect(others.filter(accepts)).toEqual([]);
    // Nothing is left of who was asked about before.
    expect([...others, old].map(accepts).at(-1)).toBe(true);
    expect(['x', 'token-ü-\u{1f512}'].map((text) => createTokenCheck([text])(text))).toEqual([true, true]);
    expect(() => createTokenCheck([])).toThrow(RangeError);
  });

  test('are a list in the settings, of texts that are as long as the one that is sent', () => {
    const read = (accepted: string) =>
      acceptedTokens(readConfig(serviceTokenSettings, { SERVICE_TOKEN: old, SERVICE_TOKENS_ACCEPTED: accepted }));
    expect(read('')).toEqual([old]);
    expect(read(`${next} , ${'y'.repeat(32)}`)).toEqual([old, next, 'y'.repeat(32)]);
    for (const wrong of ['short', `${next},short`, `${next},`, Array.from({ length: 5 }, () => next).join(',')])
      expect(() => read(wrong)).toThrow(ConfigError);
  });
});
