import { operations } from '@bindery/contracts';
import { servicePrincipal } from '@bindery/service-kit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectProblem, startIdentity, type TestIdentity } from '../../api/testing.ts';

const { createOrganization, getOrganizationById, listOrganizationsForAuthenticatedUser } = operations;
let identity: TestIdentity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.dispose());

describe('organizations', () => {
  test('are created with the caller as administrator, who sees it on the next request', async () => {
    const user = await identity.newUser('Founder');
    const caller = await identity.principalOf(user.token);
    const body = { title: 'Foundation', emailDomains: ['Example.org', 'example.org'] };
    const created = await identity.call(createOrganization, caller, { body });
    expect(created.status).toBe(201);
    expect(created.location).toBe(`https://docs.example.org/v1/orgs/${created.body.id}`);
    expect(created.body).toMatchObject({ title: 'Foundation', emailDomains: ['example.org'] });
    const now = await identity.principalOf(user.token);
    expect(now.organizations).toEqual({ [created.body.id]: { role: 'admin', teams: [] } });
    const read = await identity.call(getOrganizationById, now, { params: { organizationId: created.body.id } });
    expect(read.body).toEqual(created.body);
    expect(read.etag).toBe(created.etag);
    expect(read.body.permissions).toMatchObject({ view: true, admin: true, createContent: true, listMembers: true });
  });

  test('do not exist for others, administrators of the instance included', async () => {
    const [founder, stranger] = [await identity.newUser('Owner'), await identity.newUser('Stranger')];
    const { body } = await identity.call(createOrganization, await identity.principalOf(founder.token), {
      body: { title: 'Private' },
    });
    const params = { organizationId: body.id };
    for (const principal of [await identity.principalOf(stranger.token), await identity.admin()])
      await expectProblem(
        identity.call(getOrganizationById, principal, { params }),
        'not-found',
        'organization.not_found',
      );
    const prototype = identity.call(getOrganizationById, await identity.admin(), {
      params: { organizationId: '__proto__' },
    });
    await expectProblem(prototype, 'not-found', 'organization.not_found');
  });

  test('are listed to their members, by title, in pages', async () => {
    const user = await identity.newUser('Collector');
    const titles = ['delta', 'Alpha', 'Ämter', 'charlie', 'bravo'];
    for (const title of titles)
      await identity.call(createOrganization, await identity.principalOf(user.token), { body: { title } });
    const caller = await identity.principalOf(user.token);
    const list = (query: { limit?: number; page?: string }) =>
      identity.call(listOrganizationsForAuthenticatedUser, caller, { query });
    const all = await list({});
    expect(all.body.items.map(({ title }) => title)).toEqual(['Alpha', 'Ämter', 'bravo', 'charlie', 'delta']);
    expect(all.body).toMatchObject({ count: 5 });
    const first = await list({ limit: 3 });
    const second = await list({ limit: 3, page: first.body.next?.page ?? '' });
    expect([...first.body.items, ...second.body.items]).toEqual(all.body.items);
    expect(second.body.next).toBeUndefined();
    const other = await identity.newUser('Other collector');
    const foreign = identity.call(listOrganizationsForAuthenticatedUser, await identity.principalOf(other.token), {
      query: { page: first.body.next?.page ?? '' },
    });
    await expectProblem(foreign, 'invalid', 'cursor.invalid');
    expect((await list({ limit: 0 })).body).toEqual({ count: 5, items: [] });
  });

  test('are created by people, not by services', async () => {
    const attempt = identity.call(createOrganization, servicePrincipal('content'), { body: { title: 'Robots' } });
    await expectProblem(attempt, 'forbidden', 'organization.users_only');
  });
});
