import { rm } from 'node:fs/promises';
import { operations } from '@bindery/contracts';
import { type MasterKeys, openInstanceKey, readCookie, servicePrincipal, WrongMasterKey } from '@bindery/service-kit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { tokenHashOf } from '../features/tokens/index.ts';
import { createVault } from '../shared/vault.ts';
import { defaultSignIn } from '../sign-in-settings.ts';
import { bootstrapToken, manualClock, startIdentity, type TestIdentity } from './testing.ts';

const keyOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const [first, second, third] = [keyOf(21), keyOf(22), keyOf(23)];
const gateway = servicePrincipal('gateway');
const baseUrl = 'https://docs.example.org';
const password = 'correct horse battery';
const logger = { info: () => undefined, warn: () => undefined };
const clock = manualClock('2026-01-31T09:30:00.000Z');

/** As releases without an instance key started: everything from the master key. */
const asBefore = (masterKey: Uint8Array) => ({ vaultOf: async () => createVault(masterKey) });
const asNow = (keys: MasterKeys) => ({
  vaultOf: async (store: Parameters<typeof openInstanceKey>[0]) =>
    createVault(await openInstanceKey(store, keys, { head: async () => 0 }, logger)),
});

const cookieOf = (cookies: readonly string[], name: string): string =>
  cookies.map((cookie) => readCookie(cookie.split(';')[0], name, baseUrl)).find((value) => value !== undefined) ?? '';

describe.each([
  ['an instance of this release', asNow({ current: first })],
  ['an instance of a release that derived everything from its master key', asBefore(first)],
])('%s', (_name, atFirst) => {
  let identity: TestIdentity;
  let folder: string;
  let before: Awaited<ReturnType<typeof written>>;

  const start = async (how: ReturnType<typeof asNow>, at?: string): Promise<TestIdentity> =>
    startIdentity({
      ...{ ...how, clock, ...(at === undefined ? {} : { folder: at }) },
      options: { signIn: { ...defaultSignIn, hashCost: { memory: 64, passes: 1 } } },
    });
  const restart = async (how: ReturnType<typeof asNow>): Promise<void> => {
    await identity.stop();
    identity = await start(how, folder);
  };
  const linkFor = async (userId: string): Promise<string> => {
    const params = { params: { userId } };
    const { body } = await identity.call(operations.createUserSignInLink, await identity.admin(), params);
    return body.url.slice(`${baseUrl}/sign-in/link/`.length);
  };
  const useLink = async (link: string, more: { readonly password?: string } = {}) => {
    const body = { link, address: '10.0.0.1', ...more };
    return (await identity.call(operations.useSignInLink, gateway, { body })).body.cookies;
  };
  /** What was handed out, and is to be good for as long as it was promised to be. */
  const written = async () => {
    const ada = await identity.newUser('Ada');
    const cookies = await useLink(await linkFor(ada.id), { password });
    const link = await linkFor(ada.id);
    const { body } = await identity.call(operations.listUsers, await identity.admin(), { query: { limit: 1 } });
    return { ada, cookies, link, cursor: body.next?.page };
  };
  const enter = async (email: string, device?: string) => {
    const body = { email, password, address: '10.0.0.2', ...(device === undefined ? {} : { device }) };
    return (await identity.call(operations.signInWithPassword, gateway, { body })).body.cookies;
  };
  const userOf = async (cookies: readonly string[]): Promise<string | undefined> => {
    const body = { sessionHash: tokenHashOf(cookieOf(cookies, 'session')), address: '10.0.0.3' };
    return (await identity.call(operations.resolveSession, gateway, { body })).body.principal?.id;
  };
  const everythingWorks = async (): Promise<void> => {
    const { ada, cookies, cursor } = before;
    const administrator = await identity.admin();
    expect((await identity.resolve(ada.token))?.id).toBe(ada.id);
    expect(await userOf(cookies)).toBe(ada.id);
    // Found by its email, under the same digest; and nobody else can have it.
    expect(await userOf(await enter('ADA@example.org', cookieOf(cookies, 'device')))).toBe(ada.id);
    const again = identity.call(operations.createUser, administrator, {
      body: { email: 'ada@example.org', displayName: 'Another' },
    });
    await expect(again).rejects.toMatchObject({ kind: 'conflict' });
    const { body } = await identity.call(operations.listUsers, administrator, {
      query: { limit: 1, ...(cursor === undefined ? {} : { page: cursor }) },
    });
    expect(body.items).toHaveLength(1);
    expect(
      (await identity.call(operations.getUserById, administrator, { params: { userId: ada.id } })).body,
    ).toMatchObject({
      displayName: 'Ada',
      email: 'ada@example.org',
    });
    expect(identity.administratorId).toBe((await identity.resolve(bootstrapToken))?.id);
  };

  beforeAll(async () => {
    identity = await start(atFirst);
    folder = identity.folder;
    before = await written();
    expect(before.cursor).toBeDefined();
  });
  afterAll(() => identity.dispose());

  test('goes on under another master key with everything that it gave out', async () => {
    await restart(asNow({ current: second, previous: first }));
    await everythingWorks();
    expect(await userOf(await useLink(before.link))).toBe(before.ada.id);
    await restart(asNow({ current: second }));
    await everythingWorks();
  });

  test('refuses the master key that was replaced, and any other', async () => {
    await identity.stop();
    for (const wrong of [{ current: first }, { current: third }, { current: third, previous: first }])
      await expect(start(asNow(wrong), folder)).rejects.toThrow(WrongMasterKey);
    identity = await start(asNow({ current: second }), folder);
    await everythingWorks();
  });

  test('can go back while both are set', async () => {
    await restart(asNow({ current: first, previous: second }));
    await everythingWorks();
    await restart(asNow({ current: first }));
    await everythingWorks();
  });
});

describe('two replicas of the service', () => {
  const folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
  });

  test('derive the same while one has started with the new master key and the other with the old one', async () => {
    const one = await startIdentity(asNow({ current: first }));
    folders.push(one.folder);
    const digest = one.vault.emailDigest('ada@example.org');
    await one.stop();
    const other = await startIdentity({ ...asNow({ current: second, previous: first }), folder: one.folder });
    expect(other.vault.emailDigest('ada@example.org')).toBe(digest);
    expect(other.vault.secret('content')).toBe(one.vault.secret('content'));
    await other.stop();
  });
});
