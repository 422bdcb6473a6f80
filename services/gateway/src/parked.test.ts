import { createHash } from 'node:crypto';
import { apiOperations, type BodyOf, createContract, parkedOperations, recordRecovery } from '@bindery/contracts';
import { notForgotten, notFound, type ParkedWork, Problem } from '@bindery/service-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { FakeWork, key, since, stream } from './parked-testing.ts';
import { type FakeInstance, startFakeInstance, testConfig } from './testing.ts';

describe('what is parked', () => {
  let instance: FakeInstance;
  let content: FakeWork;
  let identity: FakeWork;
  let recorded: (BodyOf<typeof recordRecovery> & { readonly by: string })[];
  let refuse: Error | undefined;
  const contract = createContract({ ...apiOperations, ...parkedOperations, recordRecovery });

  const work = (of: () => FakeWork): ParkedWork => ({
    keys: (query) => of().keys(query),
    letters: (query) => of().letters(query),
    release: (query) => of().release(query),
    discard: (query) => of().discard(query),
    forget: (query) => of().forget(query),
    streams: (query) => of().streams(query),
    retry: (query) => of().retry(query),
  });
  const admin = (name: string, of: () => FakeWork) => ({
    ...{ name, notReady: () => [], parked: work(of) },
    status: async () => ({ service: name, events: 0, projections: [] }),
    rebuild: async () => ({ events: 0, durationMs: 0 }),
  });

  beforeAll(async () => {
    instance = await startFakeInstance(
      {},
      {
        contract,
        instance: [admin('identity', () => identity), admin('content', () => content)],
        resolveToken: async (hash) => ({
          ...{ kind: 'user', id: 'user-1', tokenId: 'token-1', organizations: {} },
          instanceAdmin: hash === createHash('sha256').update('root').digest('hex'),
        }),
        services: {
          identity: {
            call: async (_operation, context, request) => {
              if (refuse !== undefined) throw refuse;
              const { body } = request as { readonly body: BodyOf<typeof recordRecovery> };
              recorded.push({ ...body, by: context.principal.id });
              return { status: 204 } as never;
            },
          },
        },
      },
    );
  });
  afterAll(() => instance.stop());
  beforeEach(() => {
    content = new FakeWork('content-grants', 'content-search');
    identity = new FakeWork();
    recorded = [];
    refuse = undefined;
  });

  const send = async (operation: keyof typeof parkedOperations, path: string, token = 'root', given?: object) => {
    const { method } = parkedOperations[operation];
    const headers = {
      authorization: `Bearer ${token}`,
      ...(given === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const sent = { method, headers, ...(given === undefined ? {} : { body: JSON.stringify(given) }) };
    const response = await fetch(`${instance.url}/admin/v1${path}`, sent);
    const body: unknown = await response.json();
    expect(contract.checkResponse(operation, response.status, body)).toEqual([]);
    return { status: response.status, body };
  };
  const pages = async (operation: 'listParkedKeys' | 'listParkedStreams' | 'listDeadLetters', path: string) => {
    const found: unknown[][] = [];
    for (let page = ''; ; ) {
      const { status, body } = await send(operation, `${path}${page}`);
      expect(status).toBe(200);
      found.push(Object(body).items);
      const { next } = Object(body);
      if (next === undefined) return found;
      page = `&page=${encodeURIComponent(next.page)}`;
    }
  };
  const messageOf = ({ body }: { readonly body: unknown }): string => Object(body).error?.message;

  test('is listed over all services, page by page', async () => {
    content.waiting = ['a', 'b', 'c'].flatMap((name) => [
      key('content-grants', 'bindery.identity.v1', name),
      key('content-search', 'bindery.identity.v1', name),
    ]);
    content.waiting.sort((a, b) => (`${a.group} ${a.key}` < `${b.group} ${b.key}` ? -1 : 1));
    content.streaming = ['s1', 's2'].map((name) => stream('drop', name));
    identity.streaming = ['s3', 's4', 's5'].map((name) => stream('mail', name));
    const keys = await pages('listParkedKeys', '/parked-keys?limit=4');
    expect(keys.map(({ length }) => length)).toEqual([4, 2]);
    expect(keys.flat()).toEqual(
      content.waiting.map((one) => ({ object: 'parked-key', service: 'content', id: one.key, ...one })),
    );
    const filtered = await pages('listParkedKeys', '/parked-keys?group=content-search&limit=2');
    expect(filtered.map((page) => page.map((one) => Object(one).key))).toEqual([['a', 'b'], ['c']]);
    const streams = await pages('listParkedStreams', '/parked-streams?limit=2');
    expect(streams.map((page) => page.map((one) => `${Object(one).service} ${Object(one).stream}`))).toEqual([
      ['content s1', 'content s2'],
      ['identity s3', 'identity s4'],
      ['identity s5'],
    ]);
    const ofOne = await pages('listParkedStreams', '/parked-streams?service=identity&reactor=mail');
    expect(ofOne.flat()).toEqual(
      identity.streaming.map((one) => ({ object: 'parked-stream', service: 'identity', ...one })),
    );
    expect((await send('listParkedKeys', '/parked-keys?limit=0')).body).toEqual({ items: [] });
  });

  test('whatever its key is, it has a name by which it is found', async () => {
    // Given keys that no address holds: none, too long, of zero characters, dots, and one that looks like such a name,
    const long = 'k'.repeat(600);
    const odd = [
      '',
      '\u00003',
      '.',
      '..',
      '~47DEQpj8HBSa',
      `${long}a`,
      `${long}b`,
      '\u{1F600}'.repeat(400),
      'é/ %25?#',
    ];
    odd.sort();
    content.waiting = odd.map((name) => key('content-grants', 't', name));
    const why = { reason: 'Nobody knows whose it is.' };
    // when they are listed, however small the pages are,
    const listed = (await pages('listParkedKeys', '/parked-keys?limit=1')).flat().map((one) => Object(one));
    // then each is there once, and no answer is longer for a longer key;
    expect(listed.map((one) => one.key)).toEqual(odd.map((name) => name.slice(0, 512)));
    expect(new Set(listed.map(({ id }) => id)).size).toBe(odd.length);
    // and under its name its letters are shown, page by page, and it is given up and released.
    for (const [index, { id }] of listed.entries()) {
      const path = `/parked-keys/content-grants/t/${encodeURIComponent(id)}`;
      expect((await pages('listDeadLetters', `${path}/letters?limit=3`)).flat()).toHaveLength(4);
      expect((await send('discardDeadLetter', `${path}/letters/0/discard`, 'root', why)).status).toBe(200);
      expect((await send('releaseParkedKey', `${path}/release`)).status).toBe(200);
      expect(content.releases.at(-1)).toBe(`content-grants t ${odd[index]}`);
      expect(content.discards.at(-1)).toBe(`content-grants t ${odd[index]} 0`);
      expect(recorded.at(-1)).toMatchObject({ target: id });
    }
    expect((await send('releaseParkedKey', '/parked-keys/content-grants/t/~nothing/release')).status).toBe(404);
    expect((await send('releaseParkedKey', '/parked-keys/nope/t/~nothing/release')).status).toBe(404);
  });

  test('a list goes on behind a long key also when that is free meanwhile', async () => {
    const names = ['a', 'b', 'c'].map((end) => `${'k'.repeat(100)}${end}`);
    content.waiting = names.map((name) => key('content-grants', 't', name));
    const { body } = await send('listParkedKeys', '/parked-keys?limit=2');
    const next = `/parked-keys?page=${encodeURIComponent(Object(body).next.page)}`;
    const keysOf = async () =>
      Object((await send('listParkedKeys', next)).body).items.map((one: object) => Object(one).key);
    expect(await keysOf()).toEqual(names.slice(2));
    content.waiting.splice(1, 1);
    expect(await keysOf()).toEqual([names[0], names[2]]);
  });

  test('its letters are shown, with events where there are some', async () => {
    content.waiting = [key('content-grants', 'bindery.identity.v1', 'a/b c')];
    const found = await pages(
      'listDeadLetters',
      '/parked-keys/content-grants/bindery.identity.v1/a%2Fb%20c/letters?limit=3',
    );
    expect(found.map(({ length }) => length)).toEqual([3, 1]);
    const [first, second] = found.flat();
    expect(first).toEqual({
      ...{ object: 'dead-letter', topic: 'bindery.identity.v1', partition: 1, offset: '0', reason: 'no' },
      ...{ attempts: 5, parkedAt: since, bytes: 10 },
    });
    expect(second).toMatchObject({ offset: '1', event: { id: 'e1', data: { n: 1 } } });
  });

  test('is released by whoever has it, once that stands in the audit', async () => {
    const path = '/parked-keys/content-grants/bindery.identity.v1/a/release';
    content.waiting = [key('content-grants', 'bindery.identity.v1', 'a')];
    expect(await send('releaseParkedKey', path)).toEqual({
      status: 200,
      body: { object: 'parked-key-release', state: 'released' },
    });
    expect(content.releases).toEqual(['content-grants bindery.identity.v1 a']);
    expect(recorded).toEqual([
      {
        ...{ kind: 'parked-key', service: 'content', owner: 'content-grants', topic: 'bindery.identity.v1' },
        ...{ target: 'a', attempts: 5, by: 'user-1' },
      },
    ]);
    content.outcome = { ...key('content-grants', 'bindery.identity.v1', 'a'), releasing: true };
    expect((await send('releaseParkedKey', path)).body).toMatchObject({ state: 'waiting', parked: { key: 'a' } });
    content.outcome = { ...content.outcome, releasing: false, attempts: 10 };
    expect((await send('releaseParkedKey', path)).body).toMatchObject({ state: 'parked', parked: { attempts: 10 } });
    refuse = new Problem('unavailable', 'event_store.unavailable', 'Away.');
    expect((await send('releaseParkedKey', path)).status).toBe(503);
    expect(content.releases).toHaveLength(3);
  });

  test('its oldest letter is discarded, once that stands in the audit with the reason', async () => {
    const path = (offset: string) => `/parked-keys/content-grants/bindery.identity.v1/a/letters/${offset}/discard`;
    const why = { reason: 'Written by a version that never was released.' };
    // Given a parked key whose oldest letter is at 0,
    content.waiting = [key('content-grants', 'bindery.identity.v1', 'a')];
    content.outcome = key('content-grants', 'bindery.identity.v1', 'a');
    // when another one is to be discarded, or without a reason,
    const refused = [await send('discardDeadLetter', path('1'), 'root', why)];
    for (const given of [undefined, {}, { reason: ' ' }, { reason: 'x'.repeat(501) }, { ...why, force: true }])
      refused.push(await send('discardDeadLetter', path('0'), 'root', given));
    refused.push(await send('discardDeadLetter', path('zero'), 'root', why));
    // then nothing happens;
    expect(refused.map(({ status }) => status)).toEqual([409, 400, 400, 400, 400, 400, 400]);
    expect([content.discards, recorded]).toEqual([[], []]);
    // when the oldest one is,
    const discarded = await send('discardDeadLetter', path('0'), 'root', why);
    // then those behind it go on, here until the next one that fails,
    expect(discarded).toMatchObject({
      ...{ status: 200, body: { object: 'dead-letter-discard', state: 'parked', parked: { key: 'a', letters: 2 } } },
    });
    expect(content.discards).toEqual(['content-grants bindery.identity.v1 a 0']);
    expect(recorded).toEqual([
      {
        ...{ kind: 'parked-key', service: 'content', owner: 'content-grants', topic: 'bindery.identity.v1' },
        ...{ target: 'a', attempts: 5, by: 'user-1', discarded: { partition: 1, offset: '0', ...why } },
      },
    ]);
    content.outcome = null;
    expect((await send('discardDeadLetter', path('0'), 'root', why)).body).toEqual({
      ...{ object: 'dead-letter-discard', state: 'released' },
    });
    // and not while a release is under way, or when the audit cannot be written.
    content.waiting = [{ ...key('content-grants', 'bindery.identity.v1', 'a'), releasing: true }];
    expect((await send('discardDeadLetter', path('0'), 'root', why)).status).toBe(409);
    content.waiting = [key('content-grants', 'bindery.identity.v1', 'a')];
    refuse = new Problem('unavailable', 'event_store.unavailable', 'Away.');
    expect((await send('discardDeadLetter', path('0'), 'root', why)).status).toBe(503);
    expect(content.discards).toHaveLength(2);
  });

  test('is forgotten when its letters are gone, once that stands in the audit with the reason', async () => {
    const path = '/parked-keys/content-grants/bindery.identity.v1/a/forget';
    const why = { reason: 'Its letters went with a disk.' };
    const known = key('content-grants', 'bindery.identity.v1', 'a');
    // Given a key that has letters, or that is released,
    content.waiting = [known];
    const refused = [await send('forgetParkedKey', path, 'root', why)];
    content.empty = 2;
    refused.push(await send('forgetParkedKey', path, 'root', why));
    content.count = 0;
    content.waiting = [{ ...known, releasing: true }];
    refused.push(await send('forgetParkedKey', path, 'root', why));
    // or one that has none, and no reason, then nothing happens, and people are told why;
    content.waiting = [known];
    for (const given of [undefined, {}, { reason: ' ' }, { ...why, force: true }])
      refused.push(await send('forgetParkedKey', path, 'root', given));
    expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 400, 400, 400, 400]);
    for (const answer of refused.slice(0, 3)) expect(messageOf(answer)).toMatch(/when none of its messages is left/);
    expect([content.forgets, recorded]).toEqual([[], []]);
    // when it has none, then it is forgotten,
    expect(await send('forgetParkedKey', path, 'root', why)).toEqual({
      ...{ status: 200, body: { object: 'parked-key-forget', state: 'forgotten' } },
    });
    expect(content.forgets).toEqual(['content-grants bindery.identity.v1 a']);
    expect(recorded).toEqual([
      {
        ...{ kind: 'parked-key', service: 'content', owner: 'content-grants', topic: 'bindery.identity.v1' },
        ...{ target: 'a', attempts: 5, by: 'user-1', forgotten: { letters: 2, since, ...why } },
      },
    ]);
    // or will be; what comes meanwhile may be parked anew.
    content.outcome = { ...known, releasing: true };
    expect((await send('forgetParkedKey', path, 'root', why)).body).toMatchObject({ state: 'waiting' });
    content.outcome = known;
    expect((await send('forgetParkedKey', path, 'root', why)).body).toMatchObject({ state: 'parked' });
    // Letters that come after the look are told of by the service; nothing is done that the audit does not have.
    content.forget = () => Promise.reject(notForgotten());
    expect((await send('forgetParkedKey', path, 'root', why)).status).toBe(409);
    refuse = new Problem('unavailable', 'event_store.unavailable', 'Away.');
    expect((await send('forgetParkedKey', path, 'root', why)).status).toBe(503);
    expect(content.forgets).toHaveLength(3);
    content.waiting = [];
    expect((await send('forgetParkedKey', path, 'root', why)).status).toBe(404);
  });

  test('a stream is tried again, and its outcome told', async () => {
    identity.streaming = [stream('mail', 'identity.invitation-1')];
    const path = '/parked-streams/identity/mail/identity.invitation-1/retry';
    expect((await send('retryParkedStream', path)).body).toEqual({ object: 'parked-stream-retry', state: 'released' });
    expect(recorded).toMatchObject([{ kind: 'parked-stream', service: 'identity', owner: 'mail', by: 'user-1' }]);
    identity.streamOutcome = stream('mail', 'identity.invitation-1');
    expect((await send('retryParkedStream', path)).body).toMatchObject({ state: 'waiting' });
    identity.streamOutcome = { ...identity.streamOutcome, attempts: 6 };
    expect((await send('retryParkedStream', path)).body).toMatchObject({ state: 'parked', parked: { attempts: 6 } });
  });

  test('the outcome is waited for no longer than the request has time to tell it', async () => {
    content.waiting = [key('content-grants', 't', 'k')];
    content.streaming = [stream('drop', 's1')];
    await send('releaseParkedKey', '/parked-keys/content-grants/t/k/release');
    await send('retryParkedStream', '/parked-streams/content/drop/s1/retry');
    expect(content.waits).toHaveLength(2);
    for (const waitMs of content.waits) {
      expect(waitMs).toBeLessThanOrEqual(testConfig.requestDeadlineMs - 500);
      expect(waitMs).toBeGreaterThan(1000);
    }
  });

  test('what is not there is told apart for people', async () => {
    const of = (path: string) => `/parked-keys/${path}`;
    expect(messageOf(await send('releaseParkedKey', of('nope/t/k/release')))).toBe('No such consumer group.');
    expect(messageOf(await send('releaseParkedKey', of('content-grants/t/k/release')))).toBe('No such parked key.');
    expect(messageOf(await send('listDeadLetters', of('content-grants/t/k/letters')))).toBe('No such parked key.');
    expect(messageOf(await send('listParkedKeys', '/parked-keys?group=nope'))).toBe('No such consumer group.');
    expect((await send('listParkedKeys', '/parked-keys?group=content-grants')).body).toEqual({ items: [] });
    expect(messageOf(await send('listParkedStreams', '/parked-streams?service=nope'))).toBe('No such service.');
    expect(messageOf(await send('retryParkedStream', '/parked-streams/nope/r/s/retry'))).toBe('No such service.');
    expect(messageOf(await send('retryParkedStream', '/parked-streams/content/r/s/retry'))).toBe(
      'No such parked stream.',
    );
    for (const page of ['x', Buffer.from('["other"]').toString('base64url')])
      expect((await send('listParkedKeys', `/parked-keys?page=${page}`)).status).toBe(400);
    expect(recorded).toEqual([]);
  });

  test('is nobody else’s business', async () => {
    content.waiting = [key('content-grants', 't', 'k')];
    for (const [operation, path] of [
      ['listParkedKeys', '/parked-keys'],
      ['listDeadLetters', '/parked-keys/content-grants/t/k/letters'],
      ['releaseParkedKey', '/parked-keys/content-grants/t/k/release'],
      ['discardDeadLetter', '/parked-keys/content-grants/t/k/letters/0/discard'],
      ['forgetParkedKey', '/parked-keys/content-grants/t/k/forget'],
      ['listParkedStreams', '/parked-streams'],
      ['retryParkedStream', '/parked-streams/content/r/s/retry'],
    ] as const)
      expect((await send(operation, path, 'secret')).status).toBe(403);
    expect([content.releases, content.discards, content.forgets]).toEqual([[], [], []]);
  });

  test('a service that cannot be asked is said to be away', async () => {
    content.keys = () => Promise.reject(new Problem('unavailable', 'service.unavailable', 'Away.'));
    expect((await send('listParkedKeys', '/parked-keys')).status).toBe(503);
    content.keys = () => Promise.reject(notFound('consumer group'));
    expect((await send('listParkedKeys', '/parked-keys')).status).toBe(404);
  });
});
