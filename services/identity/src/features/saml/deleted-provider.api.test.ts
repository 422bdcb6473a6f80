import { operations } from '@bindery/contracts';
import type { EventStore } from '@bindery/event-store';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startSaml, type TestSaml } from './login/testing.ts';

let saml: TestSaml;
/** What happens right before a session is begun. */
let beforeSession: (() => Promise<unknown>) | undefined;
const between = (store: EventStore): EventStore =>
  new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name !== 'append') return typeof value === 'function' ? value.bind(target) : value;
      const append: EventStore['append'] = async (stream, events, expected) => {
        if (events.some(({ type }) => type === 'SessionStarted')) {
          const work = beforeSession;
          beforeSession = undefined;
          await work?.();
        }
        return target.append(stream, events, expected);
      };
      return append;
    },
  });

beforeAll(async () => {
  saml = await startSaml([], between);
});
afterAll(() => saml.dispose());

const newProvider = () => saml.addProvider(saml.organizationId, saml.owner.token, saml.idp, 'read');
const remove = async (samlProviderId: string) => {
  const params = { organizationId: saml.organizationId, samlProviderId };
  const administrator = await saml.identity.principalOf(saml.owner.token);
  return saml.identity.call(operations.deleteOrganizationSAMLProvider, administrator, { params });
};
const isIn = async (response: Response): Promise<boolean> => (await saml.principalOf(response)) !== null;

test('the sessions of a deleted provider end with it; those of another one, and those of other kinds, go on', async () => {
  const deleted = await newProvider();
  const [one, two] = [await saml.signIn('ada@example.org', deleted), await saml.signIn('bea@example.org', deleted)];
  const kept = await saml.signIn('ada@example.org');
  expect(await Promise.all([one, two, kept].map(isIn))).toEqual([true, true, true]);
  expect((await remove(deleted)).status).toBe(205);
  while ((await isIn(one)) || (await isIn(two))) await new Promise((resolve) => setImmediate(resolve));
  expect(await isIn(kept)).toBe(true);
  expect(await saml.identity.principalOf(saml.owner.token)).toMatchObject({ id: saml.owner.id });
  const ada = await saml.principalOf(kept);
  if (ada === null) throw new Error('nobody');
  const { body } = await saml.identity.call(operations.listSessionsForAuthenticatedUser, ada, {});
  expect(body.items).toHaveLength(1);
});

test('a session that is begun while the provider is deleted is none', async () => {
  const deleted = await newProvider();
  beforeSession = () => remove(deleted);
  const response = await saml.signIn('cleo@example.org', deleted);
  expect([response.status, response.headers.getSetCookie()]).toEqual([403, []]);
  const { body: users } = await saml.identity.call(operations.listUsers, await saml.identity.admin(), {
    query: { search: 'cleo@example.org' },
  });
  const [cleo] = users.items;
  const { body: token } = await saml.identity.call(operations.createUserToken, await saml.identity.admin(), {
    params: { userId: cleo?.id ?? '' },
    body: {},
  });
  const { body } = await saml.identity.call(
    operations.listSessionsForAuthenticatedUser,
    await saml.identity.principalOf(token.token),
    {},
  );
  expect(body.items).toEqual([]);
});
