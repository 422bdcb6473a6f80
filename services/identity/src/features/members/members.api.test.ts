import { operations } from '@bindery/contracts';
import type { MemberRole } from '@bindery/service-kit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectProblem, startIdentity, type TestIdentity } from '../../api/testing.ts';

const {
  createOrganization,
  getMemberInOrganizationById,
  listMembersInOrganizationById,
  putOrganizationMember,
  updateOrganizationMemberLastSeenAt,
  updateUserById,
} = operations;
let identity: TestIdentity;
let organizationId: string;
let owner: { id: string; token: string };
const people = new Map<string, { id: string; token: string }>();

const put = async (userId: string, role: MemberRole | null, ifMatch?: string) =>
  identity.call(putOrganizationMember, await identity.admin(), {
    params: { organizationId, userId },
    body: { role },
    ...(ifMatch === undefined ? {} : { ifMatch }),
  });
const idOf = (name: string): string => people.get(name)?.id ?? '';

beforeAll(async () => {
  identity = await startIdentity();
  owner = await identity.newUser('Olga Owner');
  const created = await identity.call(createOrganization, await identity.principalOf(owner.token), {
    body: { title: 'Members' },
  });
  organizationId = created.body.id;
  for (const [name, role] of [
    ['Élodie', 'edit'],
    ['adam', 'read'],
    ['Zed', null],
    ['Bertha', 'edit'],
  ] as const) {
    const user = await identity.newUser(name);
    people.set(name, user);
    identity.clock.forward(1000);
    await put(user.id, role);
  }
});
afterAll(() => identity.dispose());

const list = async (query: Parameters<typeof identity.call<typeof listMembersInOrganizationById>>[2] & object) =>
  identity.call(listMembersInOrganizationById, await identity.principalOf(owner.token), query);
const names = async (query: {
  limit?: number;
  page?: string;
  order?: 'asc' | 'desc';
  sort?: 'joinedAt' | 'lastSeenAt' | 'name';
  role?: MemberRole | 'guest';
  search?: string;
}) => {
  const { body } = await list({ params: { organizationId }, query });
  const byId = new Map([...people].map(([name, { id }]) => [id, name]));
  return { ...body, items: body.items.map(({ id }) => byId.get(id) ?? 'owner') };
};

describe('listing members', () => {
  test('newest first by default, oldest first on demand', async () => {
    expect((await names({})).items).toEqual(['Bertha', 'Zed', 'adam', 'Élodie', 'owner']);
    expect((await names({ order: 'asc' })).items).toEqual(['owner', 'Élodie', 'adam', 'Zed', 'Bertha']);
  });

  test('by name, without case and accents', async () => {
    const byName = { sort: 'name', order: 'asc' } as const;
    expect((await names(byName)).items).toEqual(['adam', 'Bertha', 'Élodie', 'owner', 'Zed']);
  });

  test('with a role, guests too', async () => {
    expect(await names({ role: 'edit' })).toEqual({ count: 2, items: ['Bertha', 'Élodie'] });
    expect(await names({ role: 'guest' })).toEqual({ count: 1, items: ['Zed'] });
    expect(await names({ role: 'comment' })).toEqual({ count: 0, items: [] });
  });

  test('whose name or email matches', async () => {
    expect((await names({ search: 'ELO' })).items).toEqual(['Élodie']);
    expect((await names({ search: 'zed@example' })).items).toEqual(['Zed']);
    expect((await names({ search: 'e', role: 'edit', sort: 'name', order: 'asc' })).items).toEqual([
      'Bertha',
      'Élodie',
    ]);
    expect((await names({ search: '%' })).items).toEqual([]);
  });

  test.each([
    { sort: 'joinedAt', order: 'desc' },
    { sort: 'joinedAt', order: 'asc' },
    { sort: 'name', order: 'desc' },
    { search: 'example', order: 'desc' },
  ] as const)('in pages that fit together: %o', async (query) => {
    const all = await names(query);
    const seen: string[] = [];
    for (let page: string | undefined, more = true; more; ) {
      const part = await names({ ...query, limit: 2, ...(page === undefined ? {} : { page }) });
      expect(part.count).toBe(all.count);
      seen.push(...part.items);
      page = part.next?.page;
      more = page !== undefined;
    }
    expect(seen).toEqual(all.items);
  });

  test('takes no cursor of another list', async () => {
    const { next } = await names({ limit: 2 });
    const page = next?.page ?? '';
    await expectProblem(names({ page, order: 'asc' }), 'invalid', 'cursor.invalid');
    await expectProblem(names({ page, role: 'edit' }), 'invalid', 'cursor.invalid');
  });

  test('follows a changed name at once', async () => {
    const caller = await identity.principalOf(people.get('adam')?.token ?? '');
    const params = { userId: caller.id };
    await identity.call(updateUserById, caller, { params, body: { displayName: 'yadam' } });
    const byName = { sort: 'name', order: 'asc' } as const;
    expect((await names(byName)).items).toEqual(['Bertha', 'Élodie', 'owner', 'adam', 'Zed']);
    await identity.call(updateUserById, caller, { params, body: { displayName: 'adam' } });
  });

  test('by when they were last seen: only who was seen', async () => {
    expect((await names({ sort: 'lastSeenAt' })).items).toEqual([]);
    for (const name of ['Zed', 'adam']) {
      const caller = await identity.principalOf(people.get(name)?.token ?? '');
      identity.clock.forward(1000);
      await identity.call(updateOrganizationMemberLastSeenAt, caller, { params: { organizationId } });
    }
    expect((await names({ sort: 'lastSeenAt' })).items).toEqual(['adam', 'Zed']);
    const member = await identity.call(getMemberInOrganizationById, await identity.principalOf(owner.token), {
      params: { organizationId, userId: idOf('adam') },
    });
    expect(member.body.lastSeenAt).toBe(identity.clock.now().toISOString());
  });

  test('is not for guests, and the organization is not there for strangers', async () => {
    const guest = await identity.principalOf(people.get('Zed')?.token ?? '');
    const params = { organizationId };
    await expectProblem(identity.call(listMembersInOrganizationById, guest, { params }), 'forbidden', 'member.guest');
    const stranger = await identity.newUser('Passer-by');
    const caller = await identity.principalOf(stranger.token);
    for (const operation of [listMembersInOrganizationById, updateOrganizationMemberLastSeenAt])
      await expectProblem(
        identity.call<typeof operation>(operation, caller, { params }),
        'not-found',
        'organization.not_found',
      );
  });
});

describe('one member', () => {
  test('is seen by members, and by a guest itself', async () => {
    const guest = await identity.principalOf(people.get('Zed')?.token ?? '');
    const own = await identity.call(getMemberInOrganizationById, guest, {
      params: { organizationId, userId: guest.id },
    });
    expect(own.body).toMatchObject({ object: 'member', id: guest.id, role: null, user: guest.id });
    const other = { params: { organizationId, userId: idOf('adam') } };
    await expectProblem(identity.call(getMemberInOrganizationById, guest, other), 'forbidden', 'member.guest');
    const caller = await identity.principalOf(owner.token);
    await expectProblem(
      identity.call(getMemberInOrganizationById, caller, { params: { organizationId, userId: 'nobody' } }),
      'not-found',
      'member.not_found',
    );
  });

  test('is added, changed and left alone, each with its version', async () => {
    const user = await identity.newUser('Newcomer');
    const added = await put(user.id, 'comment');
    expect(added).toMatchObject({ status: 200, etag: '1', body: { id: user.id, role: 'comment' } });
    expect(await put(user.id, 'comment')).toEqual(added);
    const changed = await put(user.id, null, '1');
    expect(changed).toMatchObject({ etag: '2', body: { role: null, joinedAt: added.body.joinedAt } });
    await expectProblem(put(user.id, 'admin', '1'), 'precondition', 'precondition.failed');
    const read = await identity.call(getMemberInOrganizationById, await identity.principalOf(owner.token), {
      params: { organizationId, userId: user.id },
    });
    expect(read).toEqual(changed);
  });

  test('needs a user and an organization that exist', async () => {
    const admin = await identity.admin();
    const body = { role: 'read' } as const;
    const noUser = { params: { organizationId, userId: 'nobody' }, body };
    await expectProblem(identity.call(putOrganizationMember, admin, noUser), 'not-found', 'user.not_found');
    const noOrganization = { params: { organizationId: 'nowhere', userId: owner.id }, body };
    await expectProblem(
      identity.call(putOrganizationMember, admin, noOrganization),
      'not-found',
      'organization.not_found',
    );
  });
});
