import { oauthScopes } from '@bindery/contracts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeInstance, startFakeInstance } from './testing.ts';

const cookie = 'bindery_session=the-session';
let instance: FakeInstance;
let local = '';

beforeAll(async () => {
  instance = await startFakeInstance();
  instance.service.signedIn('the-session');
  instance.service.token('space-reader', { scopes: ['space:read'] });
  instance.service.token('user-reader', { scopes: ['user:read'] });
  instance.service.token('everything', { scopes: oauthScopes });
  instance.service.token('admin-reader', { scopes: oauthScopes, instanceAdmin: true });
  local = `http://localhost:${instance.port}`;
});
afterAll(() => instance.stop());

const call = async (
  method: string,
  path: string,
  headers: Record<string, string>,
  at = `http://127.0.0.1:${instance.port}`,
): Promise<{ status: number; text: string; headers: Headers }> => {
  const body = method === 'POST' ? JSON.stringify({ title: 'A thing' }) : undefined;
  const response = await fetch(at + path, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body }),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
};

describe('the session of a browser', () => {
  test('stands for its user where nothing changes', async () => {
    expect((await call('GET', '/v1/things', { cookie })).status).toBe(200);
    expect((await call('GET', '/v1/things', { cookie: `other=1; ${cookie}; more=2` })).status).toBe(200);
  });

  test.each<[string, Record<string, string>]>([
    ['unknown', { cookie: 'bindery_session=unknown' }],
    ['there twice', { cookie: `${cookie}; bindery_session=another` }],
    ['empty', { cookie: 'bindery_session=' }],
    ['under another name', { cookie: '__Host-bindery_session=the-session' }],
    ['a token', { cookie: 'bindery_session=secret' }],
    ['overlong', { cookie: `bindery_session=${'a'.repeat(5000)}` }],
    ['beside a token that does not work', { cookie, authorization: 'Bearer unknown' }],
    ['beside a header that is none', { cookie, authorization: 'Basic dXNlcjpwYXNz' }],
    ['beside an empty header', { cookie, authorization: '' }],
    ['used as a token', { authorization: 'Bearer the-session' }],
    ['of a picture on another site', { cookie, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
  ])('does not count when it is %s', async (_what, headers) => {
    expect((await call('GET', '/v1/things', headers)).status).toBe(401);
  });

  test.each<[string, Record<string, string>, number]>([
    ['says nothing about itself', {}, 403],
    ['is of another site', { origin: 'https://evil.example' }, 403],
    ['is of another site, as the browser says', { 'sec-fetch-site': 'cross-site' }, 403],
    ['is of another port', { origin: 'http://localhost:1' }, 403],
    ['is of a site beside', { 'sec-fetch-site': 'same-site', origin: 'https://docs.example.org' }, 403],
    ['has no origin to speak of', { origin: 'null' }, 403],
    ['is typed, or of an extension', { 'sec-fetch-site': 'none' }, 403],
    [
      'claims to be from here with an origin elsewhere',
      { 'sec-fetch-site': 'same-origin', origin: 'https://a.b' },
      403,
    ],
    ['names an address that begins like ours', { origin: 'http://localhost.evil.example' }, 403],
    ['is from here', { 'sec-fetch-site': 'same-origin' }, 201],
  ])('changes nothing unless the page is of this instance: one that %s', async (_what, headers, status) => {
    expect((await call('POST', '/v1/things', { cookie, ...headers })).status).toBe(status);
  });

  test('changes things for pages of this instance, by its public name and the one in use', async () => {
    const before = instance.service.things.size;
    for (const origin of [local, `http://127.0.0.1:${instance.port}`])
      expect((await call('POST', '/v1/things', { cookie, origin })).status).toBe(201);
    expect(instance.service.things.size).toBe(before + 2);
  });

  test('never gets another caller’s kept answer', async () => {
    const headers = { 'idempotency-key': 'shared-key', origin: local };
    const mine = await call('POST', '/v1/things', { ...headers, cookie });
    const other = await call('POST', '/v1/things', { 'idempotency-key': 'shared-key', authorization: 'Bearer secret' });
    expect([mine.status, other.status]).toEqual([201, 201]);
    expect(other.text).not.toBe(mine.text);
  });

  test('does not open answers to other sites’ scripts', async () => {
    const { headers } = await call('GET', '/v1/things', { cookie, origin: 'https://evil.example' });
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });
});

describe('a token that is limited to scopes', () => {
  const as = (token: string) => ({ authorization: `Bearer ${token}` });
  test('calls what its scopes cover', async () => {
    expect((await call('GET', '/v1/spaces/x', as('space-reader'))).status).toBe(200);
    expect((await call('GET', '/v1/spaces/x', as('secret'))).status).toBe(200);
  });
  test('is told which scope is missing', async () => {
    const answer = await call('GET', '/v1/spaces/x', as('user-reader'));
    expect(JSON.parse(answer.text)).toEqual({ error: { code: 403, message: 'The token lacks the scope space:read.' } });
    expect(answer.headers.get('www-authenticate')).toBe(
      'Bearer realm="bindery", error="insufficient_scope", scope="space:read"',
    );
  });
  test('calls nothing that no scope covers, and never the administration', async () => {
    expect((await call('GET', '/v1/things', as('everything'))).status).toBe(403);
    expect((await call('POST', '/v1/things', as('everything'))).status).toBe(403);
    expect((await call('GET', '/admin/v1/things', as('admin-reader'))).status).toBe(403);
  });
});
