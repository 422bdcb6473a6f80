import { operations } from '@bindery/contracts';
import { readCookie, servicePrincipal } from '@bindery/service-kit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { exportSPKI, SignJWT } from 'jose';
import { expectProblem, manualClock, startIdentity, type TestIdentity } from '../../api/testing.ts';
import { defaultSignIn } from '../../sign-in-settings.ts';
import { tokenHashOf } from '../tokens/index.ts';
import { acceptableIssuer } from './config.ts';
import { localPath } from './flow.ts';
import { createOidcProvider } from './provider.ts';
import { type Minting, startBadProvider } from './testing.ts';

const { beginOidcSignIn, finishOidcSignIn, resolveSession } = operations;
const gateway = servicePrincipal('gateway');
const baseUrl = 'https://docs.example.org';
const address = '192.0.2.1';
let provider: Awaited<ReturnType<typeof startBadProvider>>;
let identity: TestIdentity;

beforeAll(async () => {
  provider = await startBadProvider();
  const oidc = {
    issuer: provider.issuer,
    clientId: 'bindery',
    clientSecret: 'client-secret-marker',
    scopes: 'openid email',
    emailDomains: ['example.org'],
    createUsers: true,
  };
  identity = await startIdentity({
    clock: manualClock(new Date().toISOString()),
    options: { signIn: { ...defaultSignIn, oidc } },
  });
});
afterAll(async () => {
  await identity.dispose();
  await provider.close();
});

const cookieValue = (cookies: readonly string[], name: string): string =>
  cookies.map((cookie) => readCookie(cookie.split(';')[0], name, baseUrl)).find((value) => value !== undefined) ?? '';
const begin = async (returnTo?: string) => {
  const { body } = await identity.call(beginOidcSignIn, gateway, { body: { address, ...(returnTo && { returnTo }) } });
  return { url: body.url, flow: cookieValue(body.cookies, 'oidc') };
};
const finish = async (flow: string, query: string) =>
  (await identity.call(finishOidcSignIn, gateway, { body: { flow, query, address } })).body;
/** The whole way, as a browser goes it. */
const signIn = async () => {
  const { url, flow } = await begin();
  return finish(flow, provider.authorize(url));
};
const userOf = async (cookies: readonly string[]): Promise<string | undefined> => {
  const body = { sessionHash: tokenHashOf(cookieValue(cookies, 'session')) };
  return (await identity.call(resolveSession, gateway, { body })).body.principal?.id;
};
const claims =
  (more: Record<string, unknown>) =>
  ({ payload, sign }: Minting) =>
    sign({ ...payload, ...more });
const refusedWith = async (mint: (minting: Minting) => Promise<string>): Promise<void> => {
  provider.minting(mint);
  await expectProblem(signIn(), 'unauthenticated', 'sign_in.oidc');
};

describe('the beginning', () => {
  test('asks for a code with PKCE, state and nonce, and keeps them in the browser alone', async () => {
    const { url, flow } = await begin();
    const asked = Object.fromEntries(new URL(url).searchParams);
    expect(asked).toMatchObject({
      response_type: 'code',
      client_id: 'bindery',
      redirect_uri: `${baseUrl}/sign-in/oidc/callback`,
      code_challenge_method: 'S256',
      scope: 'openid email',
    });
    for (const name of ['state', 'nonce', 'code_challenge'] as const) expect(asked[name]?.length).toBeGreaterThan(40);
    expect(flow).not.toContain(asked.state);
  });

  test('leads back to paths of this instance only', () => {
    expect(localPath('/account?x=1')).toBe('/account?x=1');
    for (const bad of ['//evil.example', '/\\evil.example', 'https://evil.example', '/a\\b', '/a b', undefined, ''])
      expect(localPath(bad)).toBe('/account');
  });

  test('wants https, but on this machine', () => {
    expect(
      ['https://a.example', 'http://localhost:1', 'http://127.0.0.1', 'http://[::1]:2'].map(acceptableIssuer),
    ).toEqual([true, true, true, true]);
    expect(['http://a.example', 'http://127.0.0.1.example', 'http://localhost.example'].map(acceptableIssuer)).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('signing in', () => {
  test('makes an account for a verified email once, and finds it by the subject from then on', async () => {
    provider.minting(claims({ sub: 'new-1', email: 'New.Person@example.org', name: 'New Person' }));
    const first = await userOf((await signIn()).cookies);
    provider.minting(claims({ sub: 'new-1', email: 'renamed@example.org', email_verified: false }));
    expect(await userOf((await signIn()).cookies)).toBe(first);
    const user = await identity.call(operations.listUsers, await identity.admin(), { query: { search: 'new.person' } });
    expect(user.body.items).toMatchObject([{ id: first, displayName: 'New Person', email: 'New.Person@example.org' }]);
  });

  test('finds an account by its verified email, and binds it to the subject for good', async () => {
    const existing = await identity.newUser('Existing');
    provider.minting(claims({ sub: 'owner', email: 'Existing@Example.org' }));
    expect(await userOf((await signIn()).cookies)).toBe(existing.id);
    // Who gets the email later is somebody else.
    await refusedWith(claims({ sub: 'successor', email: 'existing@example.org' }));
    provider.minting(claims({ sub: 'owner', email: 'existing@example.org' }));
    expect(await userOf((await signIn()).cookies)).toBe(existing.id);
  });

  test('refuses unverified emails, other domains, and erased or missing facts', async () => {
    const victim = await identity.newUser('Victim');
    for (const more of [
      { sub: 'thief', email: 'victim@example.org', email_verified: false },
      { sub: 'thief', email: 'victim@example.org', email_verified: 'true' },
      { sub: 'thief', email: 'victim@example.org', email_verified: undefined },
      { sub: 'thief', email: undefined },
      { sub: 'thief', email: 'somebody@evil.example' },
      { sub: 'thief', email: 'victim@example.org@evil.example' },
      { sub: 'thief', email: 'victim@sub.example.org' },
      { sub: 'thief', email: 'victim @example.org' },
      { sub: undefined },
    ])
      await refusedWith(claims(more));
    const { body } = await identity.call(operations.listUsers, await identity.admin(), { query: { search: 'victim' } });
    expect(body.items.map(({ id }) => id)).toEqual([victim.id]);
  });

  test('at the same time makes one account', async () => {
    provider.minting(claims({ sub: 'twice', email: 'twice@example.org' }));
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, signIn));
    const users = new Set<string | undefined>();
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') users.add(await userOf(outcome.value.cookies));
    expect(users.size).toBe(1);
    expect(await userOf((await signIn()).cookies)).toBe([...users][0]);
  });
});

describe('tokens that are not what they seem', () => {
  test.each<[string, (minting: Minting) => Promise<string>]>([
    ['with the algorithm none', async ({ payload }) => `${encode({ alg: 'none' })}.${encode(payload)}.`],
    [
      'with the algorithm none and a signature',
      async ({ payload, sign }) =>
        `${encode({ alg: 'none' })}.${encode(payload)}.${(await sign(payload)).split('.')[2]}`,
    ],
    [
      'signed with the public key as a shared secret',
      async ({ payload }) =>
        new SignJWT(payload)
          .setProtectedHeader({ alg: 'HS256', kid: 'key-1' })
          .sign(Buffer.from(await exportSPKI(provider.publicKey))),
    ],
    [
      'signed with the client secret',
      async ({ payload }) =>
        new SignJWT(payload).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from('client-secret-marker')),
    ],
    ['of an unknown key', async ({ payload, sign }) => sign(payload, { kid: 'unknown' })],
    [
      'signed by a stranger under a known name',
      async ({ payload }) =>
        new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'key-1' }).sign(provider.stranger),
    ],
    [
      'that were changed afterwards',
      async ({ payload, sign }) => {
        const [head, , signature] = (await sign(payload)).split('.');
        return `${head}.${encode({ ...payload, name: 'Changed' })}.${signature}`;
      },
    ],
    ['that have expired', claims({ exp: Math.floor(Date.now() / 1000) - 120 })],
    ['that never expire', claims({ exp: undefined })],
    ['that are not valid yet', claims({ nbf: Math.floor(Date.now() / 1000) + 600 })],
    ['for somebody else', claims({ aud: 'another-client' })],
    ['for others as well, without saying for whom', claims({ aud: ['bindery', 'another'], azp: 'another' })],
    ['of another issuer', claims({ iss: 'https://evil.example' })],
    ['with another nonce', claims({ nonce: 'another' })],
    ['without a nonce', claims({ nonce: undefined })],
    ['that are none', async () => 'nonsense'],
    ['that are missing', async () => ''],
  ])('are refused: %s', async (_what, mint) => {
    await refusedWith(mint);
  });
});

describe('answers that were not asked for', () => {
  test('are refused: a state used before, of another browser, or made up; a stolen code; too late', async () => {
    provider.minting(claims({ sub: 'owner', email: 'existing@example.org' }));
    const refusedAs = (flow: string, query: string) =>
      expectProblem(finish(flow, query), 'unauthenticated', 'sign_in.oidc');
    const mine = await begin();
    const query = provider.authorize(mine.url);
    expect((await finish(mine.flow, query)).cookies[0]).toContain('session=');
    await refusedAs(mine.flow, query);
    // Login CSRF: the answer of the attacker's own sign-in in the browser of somebody else.
    const theirs = await begin();
    await refusedAs((await begin()).flow, provider.authorize(theirs.url));
    await refusedAs('', provider.authorize(theirs.url));
    await refusedAs('made-up', provider.authorize(theirs.url));
    // A code that was caught is worth nothing without the verifier.
    const caught = new URLSearchParams(provider.authorize((await begin()).url)).get('code') ?? '';
    const other = await begin();
    const mixed = new URLSearchParams(provider.authorize(other.url));
    mixed.set('code', caught);
    await refusedAs(other.flow, mixed.toString());
    const denied = await begin();
    const state = new URL(denied.url).searchParams.get('state') ?? '';
    await refusedAs(denied.flow, `error=access_denied&state=${state}`);
    const late = await begin();
    const answer = provider.authorize(late.url);
    identity.clock.forward(601_000);
    await refusedAs(late.flow, answer);
  });
});

test('an issuer that names itself differently, or is away, is a 503, and found again afterwards', async () => {
  identity.clock.forward(3_600_001);
  provider.discovering({ issuer: 'https://evil.example' });
  await expectProblem(begin(), 'unavailable', 'sign_in.oidc_away');
  provider.discovering({});
  expect((await begin()).url).toContain(provider.issuer);
});

test('an issuer that says nothing is not waited for', async () => {
  const config = { issuer: provider.issuer, clientId: 'bindery', clientSecret: undefined, scopes: 'openid' };
  const impatient = createOidcProvider({ ...config, emailDomains: [], createUsers: false }, Date.now, 0.1);
  const secrets = { state: 's'.repeat(43), nonce: 'n'.repeat(43), verifier: 'v'.repeat(43) };
  provider.hanging(true);
  const unavailable = { kind: 'unavailable', code: 'sign_in.oidc_away' };
  await expect(impatient.authorizationUrl(secrets, `${baseUrl}/x`)).rejects.toMatchObject(unavailable);
  provider.hanging(false);
  const query = provider.authorize(await impatient.authorizationUrl(secrets, `${baseUrl}/x`));
  provider.hanging(true);
  await expect(impatient.profile(new URL(`${baseUrl}/x?${query}`), secrets)).rejects.toMatchObject(unavailable);
  provider.hanging(false);
});

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
