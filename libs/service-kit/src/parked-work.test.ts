import { noopTelemetry } from '@bindery/telemetry';
import { httpServers } from '@bindery/testing/http-servers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRemoteService } from './adapters/remote-service.ts';
import { createServiceListener } from './adapters/service-listener.ts';
import { createTransport } from './adapters/transport.ts';
import { notFound } from './errors.ts';
import type { ParkedWork } from './parked-work.ts';

const token = 'a token of the services that is long enough';
const id = { group: 'content-grants', topic: 'bindery.identity.v1', key: 'ключ/1' };
const since = '2026-03-01T12:00:00.000Z';
const known = { ...id, reason: 'no', attempts: 5, since, letters: 2, releasing: true };
const stream = { reactor: 'mail', stream: 's', reason: 'no', attempts: 5, since, revision: 1 };

const asked: unknown[] = [];
const note = <T>(name: string, query: unknown, answer: T): T => {
  asked.push([name, query]);
  return answer;
};
const parked: ParkedWork = {
  keys: async (query) => note('keys', query, { groups: ['content-grants'], keys: [known] }),
  letters: async (query) => {
    if (query.key === 'none') throw notFound('parked key');
    return note('letters', query, { letters: [], next: '7' });
  },
  release: async (query) => note('release', query, query.waitMs === 0 ? known : null),
  discard: async (query) => note('discard', query, query.waitMs === 0 ? known : null),
  forget: async (query) => note('forget', query, query.waitMs === 0 ? known : null),
  streams: async (query) => note('streams', query, [stream]),
  retry: async (query) => note('retry', query, stream),
};

const servers = httpServers();
const listen = async (work: ParkedWork | undefined): Promise<string> => {
  const service = {
    ...{ name: 'content', handlers: {}, notReady: () => [], ...(work === undefined ? {} : { parked: work }) },
    status: async () => ({ service: 'content', events: 0, projections: [] }),
    rebuild: async () => ({ events: 0, durationMs: 0 }),
  };
  const options = { service, rawRoutes: [], tokens: [token], telemetry: noopTelemetry(), ending: () => false };
  return (await servers.listen(createServiceListener(options))).url;
};

let transport: ReturnType<typeof createTransport>;
let without: ReturnType<typeof createTransport>;
beforeAll(async () => {
  transport = createTransport({ urls: [await listen(parked)], token });
  without = createTransport({ urls: [await listen(undefined)], token });
});
afterAll(async () => {
  await transport.close();
  await without.close();
  await servers.close();
});

test('what waits in a service is asked of its process, and refusals come back as they are', async () => {
  const remote = createRemoteService('content', transport).parked;
  expect(await remote.keys({ ...id, limit: 1 })).toEqual({ groups: ['content-grants'], keys: [known] });
  expect(await remote.letters({ ...id, limit: 5 })).toEqual({ letters: [], next: '7' });
  expect(await remote.release({ ...id, waitMs: 0 })).toEqual(known);
  expect(await remote.release({ ...id, waitMs: 1 })).toBeNull();
  expect(await remote.discard({ ...id, offset: '3', waitMs: 0 })).toEqual(known);
  expect(await remote.forget({ ...id, waitMs: 1 })).toBeNull();
  expect(await remote.streams({ limit: 5 })).toEqual([stream]);
  expect(await remote.retry({ reactor: 'mail', stream: 's', waitMs: 1 })).toEqual(stream);
  expect(asked).toEqual([
    ['keys', { ...id, limit: 1 }],
    ['letters', { ...id, limit: 5 }],
    ['release', { ...id, waitMs: 0 }],
    ['release', { ...id, waitMs: 1 }],
    ['discard', { ...id, offset: '3', waitMs: 0 }],
    ['forget', { ...id, waitMs: 1 }],
    ['streams', { limit: 5 }],
    ['retry', { reactor: 'mail', stream: 's', waitMs: 1 }],
  ]);
  await expect(remote.letters({ ...id, key: 'none', limit: 1 })).rejects.toMatchObject({
    kind: 'not-found',
    code: 'parked_key.not_found',
  });
});

test('a process where nothing can wait says so', async () => {
  await expect(createRemoteService('content', without).parked.keys({ limit: 1 })).rejects.toMatchObject({
    kind: 'not-found',
    code: 'parked_work.none',
  });
});
