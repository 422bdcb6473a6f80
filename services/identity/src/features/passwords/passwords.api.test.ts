import { operations } from '@bindery/contracts';
import type { MailMessage } from '@bindery/mail';
import { readCookie, servicePrincipal } from '@bindery/service-kit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectProblem, startIdentity, type TestIdentity } from '../../api/testing.ts';
import { defaultSignIn } from '../../sign-in-settings.ts';
import { tokenHashOf } from '../tokens/index.ts';
import { createPasswordHasher } from './hashing.ts';
import { networkKey } from './throttle.ts';

const {
  changePassword,
  createUserSignInLink,
  deleteSessionForAuthenticatedUser,
  inviteUsersToOrganization,
  listSessionsForAuthenticatedUser,
  requestSignInLink,
  resolveSession,
  signInWithPassword,
  useSignInLink,
} = operations;
const gateway = servicePrincipal('gateway');
const baseUrl = 'https://docs.example.org';
const password = 'correct horse battery';
const mails: MailMessage[] = [];
let identity: TestIdentity;
let network = 0;
/** Another address every time, so that tests do not share its limit. */
const elsewhere = (): string => {
  network += 1;
  return `10.0.${network >> 8}.${network & 255}`;
};

beforeAll(async () => {
  const mailer = {
    send: async (message: MailMessage) => {
      mails.push(message);
      return 'sent' as const;
    },
    close: async () => undefined,
  };
  identity = await startIdentity({
    options: { mailer, signIn: { ...defaultSignIn, hashCost: { memory: 64, passes: 1 } } },
  });
});
afterAll(() => identity.dispose());

const cookieOf = (cookies: readonly string[], name: string): string =>
  cookies.map((cookie) => readCookie(cookie.split(';')[0], name, baseUrl)).find((value) => value !== undefined) ?? '';
const principalOf = async (cookies: readonly string[]) => {
  const body = { sessionHash: tokenHashOf(cookieOf(cookies, 'session')), address: '10.9.9.9' };
  return (await identity.call(resolveSession, gateway, { body })).body.principal;
};
const whoIs = async (cookies: readonly string[]) => {
  const principal = await principalOf(cookies);
  if (principal === null) throw new Error('nobody');
  return principal;
};
const linkFor = async (userId: string): Promise<string> => {
  const { body } = await identity.call(createUserSignInLink, await identity.admin(), { params: { userId } });
  return body.url.slice(`${baseUrl}/sign-in/link/`.length);
};
const enter = async (email: string, given = password, more: { device?: string; address?: string } = {}) =>
  (
    await identity.call(signInWithPassword, gateway, {
      body: {
        email,
        password: given,
        address: more.address ?? elsewhere(),
        ...(more.device && { device: more.device }),
      },
    })
  ).body.cookies;
/** A user with a password, and the cookies of the browser in which it was chosen. */
const person = async (name: string) => {
  const user = await identity.newUser(name);
  const link = await linkFor(user.id);
  const { body } = await identity.call(useSignInLink, gateway, { body: { link, password, address: elsewhere() } });
  return { ...user, email: `${name.toLowerCase()}@example.org`, cookies: body.cookies };
};

describe('signing in with a password', () => {
  test('begins a session in a cookie that only this host reads, stored as a hash', async () => {
    const user = await person('Simple');
    const cookies = await enter(' SIMPLE@example.org ');
    expect(cookies[0]).toMatch(
      /^__Host-bindery_session=bnd_ses_[0-9A-Za-z]{40}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure$/,
    );
    const principal = await whoIs(cookies);
    expect(principal).toMatchObject({ kind: 'user', id: user.id, instanceAdmin: false });
    const { body } = await identity.call(listSessionsForAuthenticatedUser, principal);
    expect(body.items.map(({ method, current }) => [method, current]).sort()).toEqual([
      ['link', false],
      ['password', true],
    ]);
    // A session is no token.
    expect(await identity.resolve(cookieOf(cookies, 'session'))).toBeNull();
    const wrongKind = { sessionHash: tokenHashOf(user.token) };
    expect((await identity.call(resolveSession, gateway, { body: wrongKind })).body.principal).toBeNull();
  });

  test('says the same about a wrong password, an account without one, no account, and nonsense', async () => {
    await person('Existing');
    await identity.newUser('Passwordless');
    const tries: readonly [string, string][] = [
      ['existing@example.org', 'wrong password'],
      ['existing@example.org', 'x'.repeat(1024)],
      ['passwordless@example.org', password],
      ['nobody@example.org', password],
      ['not an email', ''],
    ];
    for (const [email, given] of tries) await expectProblem(enter(email, given), 'unauthenticated', 'sign_in.failed');
  });

  test('is held up for one account after five failures, longer each time, but not in a browser of its owner', async () => {
    const { email, cookies } = await person('Attacked');
    const device = cookieOf(cookies, 'device');
    const guess = () => enter(email, 'a wrong guess');
    for (let count = 0; count < 6; count += 1) await expectProblem(guess(), 'unauthenticated', 'sign_in.failed');
    for (let count = 0; count < 3; count += 1) await expectProblem(guess(), 'rate-limited', 'sign_in.account');
    // The right password does not help either, elsewhere; the owner gets in where it was before.
    await expectProblem(enter(email), 'rate-limited', 'sign_in.account');
    expect(await principalOf(await enter(email, password, { device }))).not.toBeNull();
    // Of nobody's account, and of another's device, the same is said.
    const guessNobody = () => enter('attacked.nobody@example.org', 'a wrong guess', { device });
    for (let count = 0; count < 6; count += 1) await expectProblem(guessNobody(), 'unauthenticated', 'sign_in.failed');
    await expectProblem(guessNobody(), 'rate-limited', 'sign_in.account');
  });

  test('is limited per account when all guesses come at once', async () => {
    const { email } = await person('Parallel');
    const guesses = Array.from({ length: 30 }, () =>
      enter(email, 'a wrong guess').then(
        () => 'in',
        (error) => error.code,
      ),
    );
    const answers = await Promise.all(guesses);
    expect(answers.filter((code) => code === 'sign_in.failed')).toHaveLength(6);
    expect(answers.filter((code) => code === 'sign_in.account')).toHaveLength(24);
  });

  test('is limited per address, over all accounts', async () => {
    const address = '192.0.2.7';
    const answers = new Set<string>();
    for (let count = 0; count < 31; count += 1)
      await enter(`spray${count}@example.org`, 'x', { address }).catch((error) => answers.add(error.code));
    expect([...answers]).toEqual(['sign_in.failed', 'sign_in.address']);
    expect(networkKey('2001:db8:1:2:3:4:5:6')).toBe(networkKey('2001:db8:1:2::1'));
    expect(networkKey('2001:db8:1:3::1')).not.toBe(networkKey('2001:db8:1:2::1'));
    expect(networkKey('::ffff:192.0.2.7')).toBe('192.0.2.7');
    expect(networkKey('::1')).toBe('0:0:0:0');
  });

  test('is recorded, bounded, and without what was typed', async () => {
    const { id, email } = await person('Recorded');
    await enter(email, 'typed-by-mistake').catch(() => undefined);
    await identity.settled();
    const stored: string[] = [];
    for await (const event of identity.ports.eventStore.readAll()) stored.push(JSON.stringify(event));
    expect(stored.some((text) => text.includes('SignInFailed') && text.includes(id))).toBe(true);
    const all = stored.join('\n');
    for (const secret of ['typed-by-mistake', password, 'argon2', 'bnd_ses_', email]) expect(all).not.toContain(secret);
  });
});

describe('sessions', () => {
  test('end after a while without use, in any case at their end, and when their owner says so', async () => {
    const { email } = await person('Timed');
    const idle = await enter(email);
    const used = await enter(email);
    const day = 86_400_000;
    for (let count = 0; count < 4; count += 1) {
      identity.clock.forward(6 * day);
      expect(await principalOf(used)).not.toBeNull();
      await identity.settled();
    }
    expect(await principalOf(idle)).toBeNull();
    identity.clock.forward(6 * day + 1);
    expect(await principalOf(used)).toBeNull();

    const mine = await enter(email);
    const principal = await whoIs(mine);
    const params = { sessionId: principal.tokenId };
    const stranger = await whoIs((await person('Stranger')).cookies);
    expect((await identity.call(deleteSessionForAuthenticatedUser, stranger, { params })).status).toBe(204);
    expect(await principalOf(mine)).not.toBeNull();
    expect((await identity.call(deleteSessionForAuthenticatedUser, principal, { params })).status).toBe(205);
    expect(await principalOf(mine)).toBeNull();
  });

  test('are the same after a rebuild', async () => {
    const { cookies } = await person('Rebuilt');
    const principal = await whoIs(cookies);
    const list = () => identity.call(listSessionsForAuthenticatedUser, principal);
    await identity.settled();
    const before = JSON.stringify(await list());
    await identity.service.rebuild();
    expect(JSON.stringify(await list())).toBe(before);
    expect(await principalOf(cookies)).toEqual(principal);
  });
});

describe('changing the password', () => {
  test('needs the current one, ends every session, and begins a new one', async () => {
    const { email, cookies } = await person('Changing');
    const principal = await whoIs(cookies);
    const change = (currentPassword: string, newPassword: string) =>
      identity.call(changePassword, principal, { body: { currentPassword, newPassword, address: elsewhere() } });
    await expectProblem(change('not the one', 'another password'), 'invalid', 'password.current');
    await expectProblem(change(password, 'short'), 'invalid', 'password.length');
    await expectProblem(change(password, 'PassWord123'), 'invalid', 'password.common');
    await expectProblem(change(password, 'aaaaaaaaaaaa'), 'invalid', 'password.common');
    await expectProblem(change(password, 'changing@example.org'), 'invalid', 'password.own_name');
    const elsewhereSignedIn = await enter(email);
    expect(await principalOf(elsewhereSignedIn)).not.toBeNull();
    const { body } = await change(password, 'another fine password');
    expect(await principalOf(cookies)).toBeNull();
    expect(await principalOf(elsewhereSignedIn)).toBeNull();
    expect(await principalOf(body.cookies)).toMatchObject({ id: principal.id });
    await expectProblem(enter(email), 'unauthenticated', 'sign_in.failed');
    expect(await principalOf(await enter(email, 'another fine password'))).not.toBeNull();
  });

  test('cannot be guessed at with a stolen session', async () => {
    const { cookies } = await person('Stolen');
    const principal = await whoIs(cookies);
    const codes: string[] = [];
    for (let count = 0; count < 40; count += 1)
      await identity
        .call(changePassword, principal, {
          body: { currentPassword: `guess ${count}`, newPassword: 'new password of thief', address: '198.51.100.4' },
        })
        .catch((error) => codes.push(error.code));
    expect(codes.filter((code) => code === 'password.current').length).toBeLessThanOrEqual(21);
    expect(codes.at(-1)).toBe('sign_in.account');
  });
});

describe('one-time links', () => {
  test('work once, whoever is first', async () => {
    const user = await identity.newUser('Linked');
    const link = await linkFor(user.id);
    const use = () => identity.call(useSignInLink, gateway, { body: { link, address: elsewhere() } });
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, use));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expectProblem(use(), 'unauthenticated', 'sign_in.link');
  });

  test('expire, cannot be forged or moved to another user, and survive a password that cannot be chosen', async () => {
    const user = await identity.newUser('Hasty');
    const other = await identity.newUser('Other');
    const link = await linkFor(user.id);
    const use = (given: string, chosen?: string) =>
      identity.call(useSignInLink, gateway, {
        body: { link: given, address: elsewhere(), ...(chosen && { password: chosen }) },
      });
    await expectProblem(use(link, 'password1'), 'invalid', 'password.common');
    for (const forged of [
      '',
      'x',
      `${link}x`,
      link.replace(user.id, other.id),
      link.replace(/.$/, '_').replace(/..$/, 'AA'),
    ])
      await expectProblem(use(forged), 'unauthenticated', 'sign_in.link');
    identity.clock.forward(72 * 3_600_000);
    await expectProblem(use(link), 'unauthenticated', 'sign_in.link');
  });

  test('are sent by mail to who has the address; who has not is told the same', async () => {
    const { email, id } = await person('Forgetful');
    const ask = (to: string) =>
      identity.call(requestSignInLink, gateway, { body: { email: to, address: elsewhere() } });
    mails.length = 0;
    for (const to of [email, 'nobody.at.all@example.org', 'nonsense', '']) expect((await ask(to)).status).toBe(204);
    for (let count = 0; count < 5; count += 1) await ask(email);
    await identity.settled();
    while (mails.length < 3) await new Promise((resolve) => setImmediate(resolve));
    // Three at once, however often somebody asks.
    expect(mails.map(({ to }) => to)).toEqual([email, email, email]);
    const link = /\/sign-in\/link\/(\S+)/.exec(mails[0]?.text ?? '')?.[1] ?? '';
    const { body } = await identity.call(useSignInLink, gateway, {
      body: { link, password: 'remembered this time', address: elsewhere() },
    });
    expect(await principalOf(body.cookies)).toMatchObject({ id });
    // The new password voids the other links.
    const second = /\/sign-in\/link\/(\S+)/.exec(mails[1]?.text ?? '')?.[1] ?? '';
    const again = identity.call(useSignInLink, gateway, { body: { link: second, address: elsewhere() } });
    await expectProblem(again, 'unauthenticated', 'sign_in.link');
  });
});

test('who is invited and has no account gets one with the link, and is a member after the first sign-in', async () => {
  const admin = await identity.admin();
  const { organizationId } = identity;
  const email = 'invited.person@example.org';
  const body = { emails: [email], role: 'edit' as const };
  await identity.call(inviteUsersToOrganization, admin, { params: { organizationId }, body });
  const ask = (to: string) => identity.call(requestSignInLink, gateway, { body: { email: to, address: elsewhere() } });
  const linked = () => mails.find(({ to, text }) => to === email && text.includes('/sign-in/link/'));
  await ask('not.invited@example.org');
  await ask(email);
  await identity.settled();
  while (linked() === undefined) await new Promise((resolve) => setImmediate(resolve));
  const link = /\/sign-in\/link\/(\S+)/.exec(linked()?.text ?? '')?.[1] ?? '';
  const used = await identity.call(useSignInLink, gateway, { body: { link, password, address: elsewhere() } });
  const principal = await whoIs(used.body.cookies);
  expect(principal.organizations[organizationId]).toEqual({ role: 'edit', teams: [] });
  expect(await principalOf(await enter(email))).toMatchObject({ id: principal.id });
  const { body: found } = await identity.call(operations.listUsers, admin, { query: { search: 'not.invited' } });
  expect(found.items).toEqual([]);
});

describe('hashing', () => {
  test('is salted, away from the event loop, and bounded', async () => {
    const hasher = createPasswordHasher();
    const [one, two] = await Promise.all([hasher.hash('the same'), hasher.hash('the same')]);
    expect(one).not.toBe(two);
    expect([await hasher.verify('the same', one), await hasher.verify('another', one)]).toEqual([true, false]);
    expect(await hasher.verify('ｔｈｅ ｓａｍｅ', one)).toBe(true);
    expect(hasher.isOutdated(one)).toBe(false);
    let turns = 0;
    const count = setInterval(() => {
      turns += 1;
    }, 1);
    const light = createPasswordHasher({ memory: 4096, passes: 1 });
    const all = await Promise.allSettled(Array.from({ length: 50 }, () => light.verify('x', undefined)));
    clearInterval(count);
    expect(turns).toBeGreaterThan(5);
    expect([await light.verify('the same', one), light.isOutdated(one)]).toEqual([true, true]);
    expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(8);
  });
});
