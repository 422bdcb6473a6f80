import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type FakeInstance, startFakeInstance } from './testing.ts';

let instance: FakeInstance;
beforeAll(async () => {
  instance = await startFakeInstance();
});
afterAll(() => instance.stop());
beforeEach(() => {
  instance.service.calls.clear();
});

interface Sent {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  readonly text: string;
}

async function send(
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: unknown; token?: string | null } = {},
): Promise<Sent> {
  const { token = 'secret', body } = options;
  const response = await fetch(`${instance.url}${path}`, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(body === undefined
      ? {}
      : {
          body:
            body instanceof Uint8Array ? new Uint8Array(body) : typeof body === 'string' ? body : JSON.stringify(body),
        }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === '' ? undefined : JSON.parse(text) };
}

const expectError = (sent: Sent, status: number, message: string | RegExp): void => {
  expect(sent.body).toEqual({
    error: { code: status, message: typeof message === 'string' ? message : expect.stringMatching(message) },
  });
  expect(sent.status).toBe(status);
  expect(sent.headers.get('access-control-allow-origin')).toBe('*');
  expect(sent.headers.get('x-content-type-options')).toBe('nosniff');
  expect(sent.headers.get('x-request-id')).toMatch(/^[\w.:-]+$/);
};

const create = async (title = 'One', owner?: string): Promise<{ id: string; etag: string }> => {
  const made = await send('POST', '/v1/things', { body: { title, ...(owner && { owner }) } });
  expect(made.status).toBe(201);
  return { id: Object(made.body).id, etag: made.headers.get('etag') ?? '' };
};

describe('an operation', () => {
  test('creates with Location, ETag, no-store and a request id', async () => {
    const made = await send('POST', '/v1/things', { body: { title: 'One' }, headers: { 'x-request-id': 'mine-1' } });
    expect(made.status).toBe(201);
    expect(instance.contract.checkResponse('createThing', made.status, made.body)).toEqual([]);
    expect(made.headers.get('location')).toBe(`${instance.url}/v1/things/${Object(made.body).id}`);
    expect(made.headers.get('etag')).toMatch(/^"0\.[\w-]{10}"$/);
    expect(made.headers.get('cache-control')).toBe('no-store');
    expect(made.headers.get('x-request-id')).toBe('mine-1');
    expect(made.headers.get('content-length')).toBe(String(Buffer.byteLength(made.text)));
    expect(Object(made.body).id).toMatch(/^[A-Za-z0-9]{20,}$/);
  });

  test('a request id that could do harm is replaced', async () => {
    const sent = await send('GET', '/v1', { headers: { 'x-request-id': 'a b"<script>' } });
    expect(sent.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('deletes answer 205 with Content-Length 0, then 204', async () => {
    const { id } = await create();
    const first = await send('DELETE', `/v1/things/${id}`);
    expect([first.status, first.text, first.headers.get('content-length')]).toEqual([205, '', '0']);
    const second = await send('DELETE', `/v1/things/${id}`);
    expect([second.status, second.text, second.headers.get('content-length')]).toEqual([204, '', null]);
  });

  test('HEAD is GET without the body', async () => {
    const { id } = await create();
    const full = await send('GET', `/v1/things/${id}`);
    const head = await send('HEAD', `/v1/things/${id}`);
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(full.headers.get('content-length'));
    expect(head.headers.get('etag')).toBe(full.headers.get('etag'));
  });

  test('a trailing slash makes no difference', async () => {
    expect((await send('GET', '/v1/things/')).status).toBe(200);
  });

  test('queries are coerced and get defaults; repeated keys make lists', async () => {
    expect((await send('GET', '/v1/things?state=open&state=closed&deep=true&limit=1')).status).toBe(200);
    expect((await send('GET', '/v1/things?state=open')).status).toBe(200);
  });

  test('GET /v1 tells the version and needs no token', async () => {
    const sent = await send('GET', '/v1/', { token: null });
    expect(sent.body).toEqual({ version: '0.1.0', build: '2026-01-01' });
  });
});

describe('a page path', () => {
  test.each([
    ['a/b', 'a/b'],
    ['a%2Fb', 'a/b'],
    ['a%2Fb/c', 'a/b/c'],
    ['a%252Fb', 'a%2Fb'],
    ['%E4%B8%AD/%C3%BC', '中/ü'],
    ['a%20b+c', 'a b+c'],
  ])('%s', async (path, seen) => {
    expect((await send('GET', `/v1/things/x/pages/${path}`)).body).toEqual({ path: seen });
  });
  test.each(['%', 'a%2', '%ZZ', '%C3', '%ff/x'])('malformed: %s', async (path) => {
    expectError(await send('GET', `/v1/things/x/pages/${path}`), 400, /percent escape/);
  });
});

describe('authentication', () => {
  test.each<[string, Record<string, string>, RegExp]>([
    ['none', {}, /bearer token is needed/],
    ['another scheme', { authorization: 'Basic c2VjcmV0' }, /must be "Bearer"/],
    ['no token', { authorization: 'Bearer ' }, /must be "Bearer"/],
    ['two tokens', { authorization: 'Bearer a b' }, /must be "Bearer"/],
    ['unknown', { authorization: 'Bearer nobody' }, /not valid/],
  ])('%s: 401', async (_, headers, message) => {
    const sent = await send('GET', '/v1/things', { token: null, headers });
    expectError(sent, 401, message);
    expect(sent.headers.get('www-authenticate')).toMatch(/^Bearer realm="bindery"/);
  });
  test('the scheme is read in any case', async () => {
    expect((await send('GET', '/v1/things', { token: null, headers: { authorization: 'bEARER secret' } })).status).toBe(
      200,
    );
  });
  test('a token in the query is no token', async () => {
    expectError(await send('GET', '/v1/things?access_token=secret', { token: null }), 401, /in this header/);
  });
  test('/admin/v1 is for instance administrators', async () => {
    expectError(await send('GET', '/admin/v1/things'), 403, /administrators/);
    expect((await send('GET', '/admin/v1/things', { token: 'root' })).status).toBe(200);
  });
});

describe('what does not fit is told by name', () => {
  test.each<[string, string, unknown, number, string | RegExp]>([
    ['POST', '/v1/things', { title: '' }, 400, 'body.title: must not be empty'],
    ['POST', '/v1/things', { title: 'x'.repeat(51) }, 400, 'body.title: must be at most 50 characters long'],
    ['POST', '/v1/things', {}, 400, 'body.title: is required'],
    ['POST', '/v1/things', { title: 'a', nope: 1 }, 400, 'body.nope: is not a field that is known here'],
    ['POST', '/v1/things', undefined, 400, 'body: is required'],
    ['POST', '/v1/things', 'null', 400, 'body: must be an object'],
    ['POST', '/v1/things', '{"title": "a"', 400, /^body: is not valid JSON/],
    ['POST', '/v1/things', '{"title":\n "a",}', 400, 'body: is not valid JSON (line 2, column 6)'],
    [
      'POST',
      '/v1/things',
      '{"title":"a","__proto__":{"x":1}}',
      400,
      'body.__proto__: is not a name that a field may have',
    ],
    ['POST', '/v1/things', '{"title":"a","data":{"constructor":1}}', 400, /body\.data\.constructor/],
    [
      'POST',
      '/v1/things',
      `{"title":"a","data":${'['.repeat(90_000)}${']'.repeat(90_000)}}`,
      400,
      /nested deeper than 100/,
    ],
    ['POST', '/v1/things', { title: 'a\u0000' }, 400, 'body.title: must not contain the NUL character'],
    ['POST', '/v1/things', '{"title":"\\ud800"}', 400, /well-formed/],
    ['POST', '/v1/things', new Uint8Array([0x7b, 0xff, 0x7d]), 400, 'body: is not valid UTF-8'],
    ['GET', '/v1/things?limit=1001', undefined, 400, 'query.limit: must be at most 1000'],
    ['GET', '/v1/things?limit=x', undefined, 400, 'query.limit: must be a whole number'],
    ['GET', '/v1/things?nope=1', undefined, 400, 'query.nope: is not a field that is known here'],
    ['GET', '/v1/things?state=nope', undefined, 400, 'query.state[0]: must be one of "open", "closed"'],
    ['GET', '/v1/things?page=%zz', undefined, 400, 'query: has a malformed percent escape'],
    ['GET', '/v1/things?__proto__=1', undefined, 400, /__proto__/],
    ['GET', '/v1/things/a%20b', undefined, 400, /params\.thingId: must match/],
    ['GET', '/v1/things/nope?x=1', undefined, 400, /^query: takes no parameters/],
    ['GET', '/v1/things/nope', undefined, 404, 'No such thing.'],
    ['GET', '/v1/nope', undefined, 404, 'No such path.'],
    ['GET', '/nope', undefined, 404, 'No such path.'],
    ['GET', `/v1/things?page=${'x'.repeat(9000)}`, undefined, 414, /at most 8192/],
    ['PUT', '/v1/things', undefined, 405, /Allowed: GET, POST, HEAD, OPTIONS/],
  ])('%s %s %#', async (method, path, body, status, message) => {
    expectError(await send(method, path, { body }), status, message);
  });

  test('405 names what is allowed', async () => {
    expect((await send('DELETE', '/v1/things')).headers.get('allow')).toBe('GET, POST, HEAD, OPTIONS');
  });

  test('content types: JSON in UTF-8, nothing else', async () => {
    const body = '{"title":"a"}';
    const as = (type: string) => send('POST', '/v1/things', { body, headers: { 'content-type': type } });
    for (const type of ['application/json', 'application/merge-patch+json', 'Application/JSON; charset="UTF-8"']) {
      expect((await as(type)).status).toBe(201);
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', '']) {
      expectError(await as(type), 415, /application\/json/);
    }
  });

  test('an empty body is fine where the body is optional', async () => {
    const { id } = await create();
    const empty = await send('POST', `/v1/things/${id}/poke`, { headers: { 'content-type': 'application/json' } });
    expect([empty.status, empty.body]).toEqual([200, { hard: false }]);
    expect((await send('POST', `/v1/things/${id}/poke`, { body: { hard: true } })).body).toEqual({ hard: true });
  });
});

describe('versions', () => {
  test('If-Match: current, any, stale, weak, malformed', async () => {
    const { id, etag } = await create();
    const patch = (ifMatch: string) =>
      send('PATCH', `/v1/things/${id}`, { body: { title: 'Two' }, headers: { 'if-match': ifMatch } });
    const first = await patch(etag);
    expect(first.status).toBe(200);
    expectError(await patch(etag), 412, /If-Match/);
    expect((await patch('*')).status).toBe(200);
    expectError(await patch(`W/${etag}`), 412, /weak/);
    expectError(await patch('"a", "b"'), 412, /If-Match/);
    expectError(await patch('nonsense'), 400, /entity tags in double quotes/);
    const read = await send('GET', `/v1/things/${id}`);
    expect((await patch(`"a", ${read.headers.get('etag')}`)).status).toBe(200);
  });

  test('If-None-Match answers 304 without a body', async () => {
    const { id, etag } = await create();
    const read = (tag: string) => send('GET', `/v1/things/${id}`, { headers: { 'if-none-match': tag } });
    const same = await read(`"x", ${etag}`);
    expect([same.status, same.text, same.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await read('"other"')).status).toBe(200);
  });

  test('Prefer: return=minimal', async () => {
    const { id } = await create();
    const patch = (prefer: string) => send('PATCH', `/v1/things/${id}`, { body: { title: 'T' }, headers: { prefer } });
    const minimal = await patch('return=minimal');
    expect([minimal.status, minimal.text, minimal.headers.get('preference-applied')]).toEqual([
      204,
      '',
      'return=minimal',
    ]);
    expect((await patch('return=representation')).status).toBe(200);
  });
});

describe('embedded resources', () => {
  test('are loaded in one batch, kept, and forgotten when the epoch moves', async () => {
    const { service, cache } = instance;
    service.users.set('ada', 'Ada');
    await Promise.all([create('A', 'ada'), create('B', 'ada'), create('C', 'gone')]);
    service.calls.clear();
    const owners = async (): Promise<unknown[]> => {
      const { body } = await send('GET', '/v1/things?limit=1000');
      return Object(body).items.map(
        (item: { owner: { displayName: string } | null }) => item.owner?.displayName ?? null,
      );
    };
    expect(await owners()).toEqual(expect.arrayContaining(['Ada', 'Deleted user']));
    expect(service.calls.get('loadUsers')).toBe(1);
    service.users.set('ada', 'Ada L.');
    expect(await owners()).toContain('Ada');
    await cache.increment('embed-epoch:user', { ttlMs: 60_000 });
    expect(await owners()).toContain('Ada L.');
  });
});

describe('failures of ours', () => {
  const misbehave = (how: string) => send('POST', '/v1/misbehave', { body: { how } });
  test('the unknown is a 500 with the request id and nothing of its text', async () => {
    const sent = await misbehave('throw');
    expectError(sent, 500, /Request id: [0-9a-f-]{36}$/);
    expect(sent.text).not.toContain('secret-marker');
  });
  test('a store that is away is a 503 with Retry-After', async () => {
    const sent = await misbehave('outage');
    expectError(sent, 503, /store/);
    expect(sent.headers.get('retry-after')).toBe('1');
  });
  test('a refusal of the service keeps its kind', async () => {
    expectError(await misbehave('conflict'), 409, 'The thing is in use.');
  });
});

describe('browsers', () => {
  test('a preflight allows everything that clients send', async () => {
    const sent = await send('OPTIONS', '/v1/things', {
      token: null,
      headers: { origin: 'https://x.example', 'access-control-request-method': 'PATCH' },
    });
    expect([sent.status, sent.text]).toEqual([204, '']);
    expect(sent.headers.get('access-control-allow-origin')).toBe('*');
    expect(sent.headers.get('access-control-allow-credentials')).toBeNull();
    expect(sent.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
    expect(sent.headers.get('access-control-allow-headers')).toContain('Idempotency-Key');
  });
  test('scripts of other sites may read our headers', async () => {
    const sent = await send('GET', '/v1/nope', { headers: { origin: 'https://x.example' } });
    expect(sent.headers.get('access-control-expose-headers')).toContain('X-Request-Id');
  });
});

describe('the rest', () => {
  test('documents and health need no token', async () => {
    const openapi = await send('GET', '/openapi.json', { token: null });
    expect(Object.keys(Object(openapi.body).paths)).toContain('/v1/things/{thingId}/pages/{pagePath}');
    expect(Object(openapi.body).servers).toEqual([{ url: instance.url, description: 'This instance' }]);
    expect((await send('GET', '/asyncapi.json', { token: null })).body).toMatchObject({ asyncapi: '3.0.0' });
    expect((await send('GET', '/healthz', { token: null })).body).toEqual({ status: 'ok' });
    expect((await send('GET', '/readyz', { token: null })).body).toEqual({ status: 'ready' });
  });
  test('/readyz says what is missing', async () => {
    instance.service.notReady = ['projection spaces is behind'];
    const sent = await send('GET', '/readyz', { token: null });
    instance.service.notReady = [];
    expectError(sent, 503, 'Not ready. content: projection spaces is behind');
  });
  test('the reference works offline and allows no foreign source', async () => {
    const page = await fetch(`${instance.url}/docs`);
    const html = await page.text();
    const sources = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source);
    expect(sources.length).toBeGreaterThan(2);
    expect(sources.filter((source) => !source?.startsWith('/'))).toEqual([]);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    for (const source of sources) expect((await fetch(`${instance.url}${source}`)).status).toBe(200);
  });
  test('administrators see the status and rebuild', async () => {
    const status = await send('GET', '/admin/v1/status', { token: 'root' });
    expect(instance.contract.checkResponse('getInstanceStatus', status.status, status.body)).toEqual([]);
    expect(status.body).toMatchObject({ version: '0.1.0', ready: true, services: [{ service: 'content', events: 7 }] });
    expect(status.body).toMatchObject({ services: [{ reactors: [{ name: 'finisher', lag: 2, parked: 1 }] }] });
    const rebuild = (body?: unknown) => send('POST', '/admin/v1/projections/rebuild', { token: 'root', body });
    expect((await rebuild()).body).toEqual({ services: [{ service: 'content', events: 7, durationMs: 1 }] });
    expectError(await rebuild({ services: ['nope'] }), 400, /unknown service "nope"/);
    expectError(await send('GET', '/admin/v1/status'), 403, /administrators/);
  });
});
