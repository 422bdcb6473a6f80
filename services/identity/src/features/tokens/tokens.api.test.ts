import { operations } from '@bindery/contracts';
import { createIdSource } from '@bindery/service-kit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectProblem, startIdentity, type TestIdentity } from '../../api/testing.ts';
import { tokenHashOf } from './secret.ts';

const { createTokenForAuthenticatedUser, createUserToken, deleteUserToken, listUserTokens, putOrganizationMember } =
  operations;
let identity: TestIdentity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.dispose());

describe('tokens', () => {
  test('are shown once, stored as a hash, and stand for their user', async () => {
    const admin = await identity.admin();
    const user = await identity.newUser('Token Owner');
    const params = { userId: user.id };
    const created = await identity.call(createUserToken, admin, { params, body: { name: 'Laptop' } });
    expect(created.body.token).toMatch(/^bnd_pat_[0-9A-Za-z]{40}$/);
    expect(await identity.principalOf(created.body.token)).toEqual({
      kind: 'user',
      id: user.id,
      tokenId: created.body.id,
      instanceAdmin: false,
      organizations: {},
    });
    const { body } = await identity.call(listUserTokens, admin, { params });
    expect(body).toMatchObject({ count: 2 });
    expect(JSON.stringify(body)).not.toContain(created.body.token);
    expect(JSON.stringify(body)).not.toContain(tokenHashOf(created.body.token));
    expect(body.items.find(({ id }) => id === created.body.id)).toMatchObject({ name: 'Laptop' });
  });

  test('end at their expiry, on every call', async () => {
    const user = await identity.newUser('Expiring');
    const params = { userId: user.id };
    const expiresAt = new Date(identity.clock.now().getTime() + 60_000).toISOString();
    const created = await identity.call(createUserToken, await identity.admin(), { params, body: { expiresAt } });
    expect(created.body.expiresAt).toBe(expiresAt);
    expect(await identity.resolve(created.body.token)).not.toBeNull();
    identity.clock.forward(59_999);
    expect(await identity.resolve(created.body.token)).not.toBeNull();
    identity.clock.forward(1);
    expect(await identity.resolve(created.body.token)).toBeNull();
    const past = identity.call(createUserToken, await identity.admin(), { params, body: { expiresAt } });
    await expectProblem(past, 'invalid', 'token.expired');
  });

  test('that end make none that outlive them', async () => {
    const user = await identity.newUser('Bounded');
    const inAMinute = new Date(identity.clock.now().getTime() + 60_000).toISOString();
    const ending = await identity.call(createUserToken, await identity.admin(), {
      params: { userId: user.id },
      body: { expiresAt: inAMinute },
    });
    const caller = await identity.principalOf(ending.body.token);
    const make = (body: object) => identity.call(createTokenForAuthenticatedUser, caller, { body });
    await expectProblem(make({}), 'invalid', 'token.outlives');
    const later = new Date(Date.parse(inAMinute) + 1).toISOString();
    await expectProblem(make({ expiresAt: later }), 'invalid', 'token.outlives');
    expect((await make({ expiresAt: inAMinute })).body.expiresAt).toBe(inAMinute);
    const own = await identity.principalOf(user.token);
    expect((await identity.call(createTokenForAuthenticatedUser, own, { body: {} })).status).toBe(201);
  });

  test('are refused on the request after they were revoked', async () => {
    const user = await identity.newUser('Revoked');
    const params = { userId: user.id, tokenId: user.tokenId };
    for (let warm = 0; warm < 3; warm += 1) expect(await identity.resolve(user.token)).not.toBeNull();
    expect((await identity.call(deleteUserToken, await identity.admin(), { params })).status).toBe(205);
    expect(await identity.resolve(user.token)).toBeNull();
    expect((await identity.call(deleteUserToken, await identity.admin(), { params })).status).toBe(204);
  });

  test('have no versions: only * matches one', async () => {
    const user = await identity.newUser('Conditional');
    const params = { userId: user.id, tokenId: user.tokenId };
    const admin = await identity.admin();
    const stale = identity.call(deleteUserToken, admin, { params, ifMatch: '0' });
    await expectProblem(stale, 'precondition', 'precondition.failed');
    expect(await identity.resolve(user.token)).not.toBeNull();
    expect((await identity.call(deleteUserToken, admin, { params, ifMatch: '*' })).status).toBe(205);
  });

  test('carry a membership and a changed role from the next request on', async () => {
    const { organizationId } = identity;
    const user = await identity.newUser('Promoted');
    const params = { organizationId, userId: user.id };
    expect((await identity.principalOf(user.token)).organizations).toEqual({});
    for (const role of ['read', 'admin', null] as const) {
      await identity.call(putOrganizationMember, await identity.admin(), { params, body: { role } });
      expect((await identity.principalOf(user.token)).organizations).toEqual({ [organizationId]: { role, teams: [] } });
    }
  });

  test('are decided on what is acknowledged, with requests going on all the time', async () => {
    const user = await identity.newUser('Raced');
    const params = { organizationId: identity.organizationId, userId: user.id };
    const admin = await identity.admin();
    for (let round = 0; round < 20; round += 1) {
      const role = round % 2 === 0 ? 'edit' : 'review';
      let running = true;
      const noise = (async () => {
        while (running) {
          await identity.resolve(user.token);
          await new Promise(setImmediate);
        }
      })();
      await identity.call(putOrganizationMember, admin, { params, body: { role } });
      expect((await identity.principalOf(user.token)).organizations[identity.organizationId]?.role).toBe(role);
      running = false;
      await noise;
    }
  });

  test('show when they were last used, to the minute', async () => {
    const user = await identity.newUser('Used');
    const used = async () => {
      await identity.settled();
      const { body } = await identity.call(listUserTokens, await identity.admin(), { params: { userId: user.id } });
      return body.items[0]?.lastUsedAt;
    };
    expect(await used()).toBeUndefined();
    await identity.resolve(user.token);
    const first = identity.clock.now().toISOString();
    expect(await used()).toBe(first);
    identity.clock.forward(59_000);
    await identity.resolve(user.token);
    expect(await used()).toBe(first);
    identity.clock.forward(1_000);
    await identity.resolve(user.token);
    expect(await used()).toBe(identity.clock.now().toISOString());
  });

  test('of a repeated request work, though the first secret is lost', async () => {
    const user = await identity.newUser('Repeated');
    const params = { userId: user.id };
    const issue = async () =>
      identity.call(createUserToken, await identity.admin(), {
        params,
        body: {},
        ids: createIdSource('the seed of an idempotency key'),
      });
    const [first, second] = [await issue(), await issue()];
    expect(second.body.id).toBe(first.body.id);
    expect(await identity.resolve(first.body.token)).toBeNull();
    expect(await identity.resolve(second.body.token)).toMatchObject({ id: user.id, tokenId: second.body.id });
  });

  test('belong to users that exist', async () => {
    const admin = await identity.admin();
    const params = { userId: 'nobody' };
    await expectProblem(identity.call(createUserToken, admin, { params }), 'not-found', 'user.not_found');
    await expectProblem(identity.call(listUserTokens, admin, { params }), 'not-found', 'user.not_found');
    const revoke = identity.call(deleteUserToken, admin, { params: { userId: 'nobody', tokenId: 't' } });
    await expectProblem(revoke, 'not-found', 'user.not_found');
  });

  test('unknown ones stand for nobody', async () => {
    expect(await identity.resolve('bnd_pat_unknown')).toBeNull();
  });
});
