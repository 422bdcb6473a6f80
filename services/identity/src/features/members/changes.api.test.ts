import { type countSpacesOfMembers, type listSpacesOfMember, operations } from '@bindery/contracts';
import { createInProcessClient, type MemberRole, type OperationRequest } from '@bindery/service-kit';
import { createIdentityProvider } from '@bindery/testing/saml';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectProblem, startIdentity, type TestIdentity } from '../../api/testing.ts';

const {
  createOrganization,
  createOrganizationSAMLProvider,
  createOrganizationTeam,
  getMemberInOrganizationById,
  listMembersInOrganizationById,
  listSpacesForOrganizationMember,
  listTeamsForOrganizationMember,
  putOrganizationMember,
  removeMemberFromOrganizationById,
  setUserAsSSOMemberForOrganization,
  updateMemberInOrganizationById,
  updateOrganizationMemberLastSeenAt,
  updateUserById,
} = operations;

let identity: TestIdentity;
let organizationId: string;
let owner: { id: string; token: string };
const asked: OperationRequest<typeof listSpacesOfMember>['body'][] = [];

/** The content service as far as identity asks it: two spaces per team, and a list that names what it was asked. */
const services = createInProcessClient({
  countSpacesOfMembers: async (_context, request) => {
    const { body } = request as OperationRequest<typeof countSpacesOfMembers>;
    return { status: 200, body: { counts: body.members.map(({ teams }) => teams.length * 2) } };
  },
  countSpacesOfTeams: async (_context, { body }) => ({
    status: 200,
    body: { counts: (Object(body).teams as string[]).map(() => 2) },
  }),
  listSpacesOfMember: async (_context, request) => {
    asked.push((request as OperationRequest<typeof listSpacesOfMember>).body);
    return { status: 200, body: { items: [], count: 0 } };
  },
});

beforeAll(async () => {
  identity = await startIdentity({ services });
  owner = await identity.newUser('Olga Owner');
  const created = await identity.call(createOrganization, await identity.principalOf(owner.token), {
    body: { title: 'Members' },
  });
  organizationId = created.body.id;
});
afterAll(() => identity.dispose());

const newMember = async (name: string, role: MemberRole | null) => {
  const user = await identity.newUser(name);
  await identity.call(putOrganizationMember, await identity.admin(), {
    params: { organizationId, userId: user.id },
    body: { role },
  });
  return user;
};
const of = (userId: string, ifMatch?: string) => ({
  params: { organizationId, userId },
  ...(ifMatch === undefined ? {} : { ifMatch }),
});
const change = async (token: string, userId: string, role: MemberRole | null, ifMatch?: string) =>
  identity.call(updateMemberInOrganizationById, await identity.principalOf(token), {
    ...of(userId, ifMatch),
    body: { role },
  });
const remove = async (token: string, userId: string, ifMatch?: string) =>
  identity.call(removeMemberFromOrganizationById, await identity.principalOf(token), of(userId, ifMatch));
const list = async (query: object) => {
  const { body } = await identity.call(listMembersInOrganizationById, await identity.principalOf(owner.token), {
    params: { organizationId },
    query,
  });
  return body;
};
const administratorsOnly = ['forbidden', 'organization.administrators_only'] as const;
const lastOne = ['conflict', 'organization.last_administrator'] as const;

describe('changing a role', () => {
  test('is for administrators, and counts at the next request of the member', async () => {
    const user = await newMember('Changeable', 'read');
    await expectProblem(change(user.token, user.id, 'admin'), ...administratorsOnly);
    const changed = await change(owner.token, user.id, null, '1');
    expect(changed).toMatchObject({ etag: '2', body: { role: null } });
    expect((await identity.principalOf(user.token)).organizations[organizationId]?.role).toBeNull();
    await expectProblem(change(owner.token, user.id, 'edit', '1'), 'precondition', 'precondition.failed');
    await expectProblem(change(owner.token, 'nobody', 'edit'), 'not-found', 'member.not_found');
    const nothing = await identity.call(updateMemberInOrganizationById, await identity.principalOf(owner.token), {
      ...of(user.id),
      body: {},
    });
    expect(nothing).toEqual(changed);
    const stranger = await identity.newUser('Outsider');
    await expectProblem(change(stranger.token, user.id, 'admin'), 'not-found', 'organization.not_found');
  });

  test('leaves an administrator, however many demote one another at once', async () => {
    await expectProblem(change(owner.token, owner.id, 'create'), ...lastOne);
    const demote = async () =>
      identity.call(putOrganizationMember, await identity.admin(), { ...of(owner.id), body: { role: null } });
    await expectProblem(demote(), ...lastOne);
    const admins = [owner, await newMember('Second', 'admin'), await newMember('Third', 'admin')];
    const callers = await Promise.all(admins.map(({ token }) => identity.principalOf(token)));
    const attempts = callers.flatMap((caller, index) => [
      identity.call(removeMemberFromOrganizationById, caller, of(admins[(index + 1) % 3]?.id ?? '')),
      identity.call(updateMemberInOrganizationById, caller, { ...of(caller.id), body: { role: 'read' } }),
    ]);
    await Promise.allSettled(attempts);
    const principals = await Promise.all(admins.map(({ token }) => identity.principalOf(token)));
    const left = principals.filter(({ organizations }) => organizations[organizationId]?.role === 'admin');
    expect(left).toHaveLength(1);
    const restore = { ...of(owner.id), body: { role: 'admin' } } as const;
    await identity.call(putOrganizationMember, await identity.admin(), restore);
    for (const { id } of admins.slice(1)) await remove(owner.token, id);
  });
});

describe('removing a member', () => {
  test('ends its access, its teams and its places in every list; joining again begins anew', async () => {
    const user = await newMember('Leaver', 'edit');
    const team = await identity.call(createOrganizationTeam, await identity.principalOf(owner.token), {
      params: { organizationId },
      body: { title: 'Team', members: [user.id] },
    });
    const caller = await identity.principalOf(user.token);
    await identity.call(updateOrganizationMemberLastSeenAt, caller, { params: { organizationId } });
    expect((await list({ search: 'leaver' })).items).toMatchObject([{ id: user.id, teams: 1, spaces: 2 }]);
    const teams = await identity.call(listTeamsForOrganizationMember, caller, of(user.id));
    expect(teams.body.items).toMatchObject([{ team: { id: team.body.id }, member: { role: 'member' } }]);
    const { body } = await identity.call(listSpacesForOrganizationMember, caller, of(user.id));
    expect(body).toEqual({ items: [], count: 0 });
    expect(asked.at(-1)).toMatchObject({ organizationId, userId: user.id, role: 'edit', teams: [team.body.id] });

    const { etag } = await identity.call(getMemberInOrganizationById, caller, of(user.id));
    await expectProblem(remove(owner.token, user.id, '999'), 'precondition', 'precondition.failed');
    expect((await remove(owner.token, user.id, etag)).status).toBe(205);
    expect((await remove(owner.token, user.id)).status).toBe(204);
    expect((await identity.principalOf(user.token)).organizations).toEqual({});
    const gone = identity.call(getMemberInOrganizationById, await identity.principalOf(owner.token), of(user.id));
    await expectProblem(gone, 'not-found', 'member.not_found');
    for (const query of [{ search: 'leaver' }, { sort: 'name' }, { sort: 'lastSeenAt' }, {}])
      expect((await list(query)).items.map(({ id }) => id)).not.toContain(user.id);
    const again = await identity.call(putOrganizationMember, await identity.admin(), {
      ...of(user.id),
      body: { role: 'read' },
    });
    expect(again.body.role).toBe('read');
    expect(Number(again.etag)).toBeGreaterThan(Number(etag));
    expect(again.body).not.toHaveProperty('lastSeenAt');
  });

  test('is something that everybody does to itself, guests too, and administrators to all', async () => {
    const guest = await newMember('Guest', null);
    const editor = await newMember('Editor', 'edit');
    await expectProblem(remove(editor.token, guest.id), ...administratorsOnly);
    await expectProblem(remove(editor.token, 'nobody'), ...administratorsOnly);
    expect((await remove(guest.token, guest.id)).status).toBe(205);
    await expectProblem(remove(guest.token, guest.id), 'not-found', 'organization.not_found');
    await expectProblem(remove(owner.token, owner.id), ...lastOne);
    expect((await remove(owner.token, editor.id)).status).toBe(205);
  });
});

describe('what members have', () => {
  test('is seen by themselves and by administrators', async () => {
    const [one, other] = [await newMember('One', 'edit'), await newMember('Other', 'edit')];
    const guest = await newMember('Visitor', null);
    const spaces = async (token: string, userId: string) =>
      identity.call(listSpacesForOrganizationMember, await identity.principalOf(token), of(userId));
    const teams = async (token: string, userId: string) =>
      identity.call(listTeamsForOrganizationMember, await identity.principalOf(token), of(userId));
    expect((await spaces(owner.token, one.id)).status).toBe(200);
    await expectProblem(spaces(other.token, one.id), 'forbidden', 'member.others');
    expect((await teams(other.token, one.id)).body).toEqual({ items: [], count: 0 });
    await expectProblem(teams(guest.token, one.id), 'forbidden', 'member.others');
    expect((await teams(guest.token, guest.id)).status).toBe(200);
    await expectProblem(spaces(owner.token, 'nobody'), 'not-found', 'member.not_found');
  });

  test('sso needs a provider', async () => {
    const user = await newMember('Single', 'edit');
    const caller = await identity.principalOf(owner.token);
    const attempt = identity.call(setUserAsSSOMemberForOrganization, caller, of(user.id));
    await expectProblem(attempt, 'conflict', 'organization.no_sso_provider');
    const { entityID, ssoURL, certificate } = createIdentityProvider({ entityID: 'https://idp.example.org/metadata' });
    await identity.call(createOrganizationSAMLProvider, caller, {
      params: { organizationId },
      body: { label: 'Company', entityID, ssoURL, certificate },
    });
    const marked = await identity.call(setUserAsSSOMemberForOrganization, caller, of(user.id));
    expect(marked.body).toMatchObject({ id: user.id, sso: true, role: 'edit' });
    expect(await identity.call(setUserAsSSOMemberForOrganization, caller, of(user.id))).toEqual(marked);
    const other = identity.call(setUserAsSSOMemberForOrganization, await identity.principalOf(user.token), of(user.id));
    await expectProblem(other, ...administratorsOnly);
  });
});

describe('lists', () => {
  test('are stable while members come, go and change their names', async () => {
    const people = [];
    for (let index = 0; index < 12; index += 1) people.push(await newMember(`Stable ${index + 10}`, 'comment'));
    const byName = { role: 'comment', sort: 'name', order: 'asc', limit: 5 } as const;
    const first = await list(byName);
    expect(first.count).toBe(12);
    const [gone, renamed] = [people[1], people[8]];
    if (gone === undefined || renamed === undefined) throw new Error('too few people');
    await remove(owner.token, gone.id);
    await identity.call(updateUserById, await identity.principalOf(renamed.token), {
      params: { userId: renamed.id },
      body: { displayName: 'Stable 99' },
    });
    await newMember('Stable 05', 'comment');
    const second = await list({ ...byName, page: first.next?.page });
    const third = await list({ ...byName, page: second.next?.page });
    const seen = [...first.items, ...second.items, ...third.items].map(({ id }) => id);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual([...people.filter((person) => person !== renamed), renamed].map(({ id }) => id));
    const none = await list({ ...byName, search: '   ', limit: 0 });
    expect(none.items).toEqual([]);
  });

  test('are the same after a rebuild', async () => {
    const queries = [{}, { sort: 'name' }, { search: 'stable', sort: 'lastSeenAt' }, { search: 'stable', limit: 3 }];
    const before = JSON.stringify(await Promise.all(queries.map(list)));
    await identity.service.rebuild();
    expect(JSON.stringify(await Promise.all(queries.map(list)))).toBe(before);
  });
});
