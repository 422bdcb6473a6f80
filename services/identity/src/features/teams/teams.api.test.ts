import { operations } from '@bindery/contracts';
import { createIdSource, createInProcessClient, type MemberRole, type Principal } from '@bindery/service-kit';
import { until } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectProblem, startIdentity, type TestIdentity } from '../../api/testing.ts';

const {
  addMemberToOrganizationTeamById,
  createOrganization,
  createOrganizationTeam,
  deleteMemberFromOrganizationTeamById,
  getTeamInOrganizationById,
  listTeamMembersInOrganizationById,
  listTeamsInOrganizationById,
  loadTeams,
  putOrganizationMember,
  removeMemberFromOrganizationById,
  removeTeamFromOrganizationById,
  updateMembersInOrganizationTeam,
  updateTeamInOrganizationById,
} = operations;

let identity: TestIdentity;
let organizationId: string;
const people = new Map<string, { id: string; token: string }>();
/** Spaces that the content service counts, by team. */
const spaces = new Map<string, number>();
const idOf = (name: string): string => people.get(name)?.id ?? '';
const as = (name: string): Promise<Principal> => identity.principalOf(people.get(name)?.token ?? '');

const join = async (name: string, role: MemberRole | null): Promise<void> => {
  const params = { organizationId, userId: idOf(name) };
  await identity.call(putOrganizationMember, await identity.admin(), { params, body: { role } });
};
const createTeam = async (title: string, members: readonly string[] = [], by = 'Ada'): Promise<string> => {
  const body = { title, members: members.map(idOf) };
  const created = await identity.call(createOrganizationTeam, await as(by), { params: { organizationId }, body });
  expect(created).toMatchObject({ status: 201, etag: expect.any(String), body: { title, members: members.length } });
  return created.body.id;
};
const change = async (
  by: string,
  teamId: string,
  body: { add?: string[]; remove?: string[]; memberships?: Record<string, { role: 'owner' | 'member' }> },
) => identity.call(updateMembersInOrganizationTeam, await as(by), { params: { organizationId, teamId }, body });
const membersOf = async (teamId: string, by = 'Ada'): Promise<readonly (readonly [string, string])[]> => {
  const params = { organizationId, teamId };
  const { body } = await identity.call(listTeamMembersInOrganizationById, await as(by), { params });
  const names = new Map([...people].map(([name, { id }]) => [id, name]));
  return body.items.map(({ organization, team }) => [names.get(organization.id) ?? '', team.role] as const).sort();
};
const teamsIn = async (name: string): Promise<readonly string[]> =>
  (await as(name)).organizations[organizationId]?.teams ?? [];

beforeAll(async () => {
  identity = await startIdentity({
    services: createInProcessClient({
      countSpacesOfMembers: async (_context, { body }) => ({
        status: 200,
        body: { counts: Object(body).members.map(() => 0) },
      }),
      countSpacesOfTeams: async (_context, { body }) => ({
        status: 200,
        body: { counts: Object(body).teams.map((id: string) => spaces.get(id) ?? 0) },
      }),
    }),
  });
  for (const name of ['Ada', 'Olga', 'Mia', 'Gus', 'Stan', 'Eve']) people.set(name, await identity.newUser(name));
  const created = await identity.call(createOrganization, await as('Ada'), { body: { title: 'Teams' } });
  organizationId = created.body.id;
  await join('Olga', 'read');
  await join('Mia', 'read');
  await join('Stan', 'read');
  await join('Gus', null);
});
afterAll(() => identity.dispose());

describe('a team', () => {
  test('is made, read, renamed and removed, each with its version', async () => {
    const teamId = await createTeam('Writers', ['Mia']);
    spaces.set(teamId, 3);
    const params = { organizationId, teamId };
    const read = await identity.call(getTeamInOrganizationById, await as('Ada'), { params });
    expect(read.body).toEqual({
      object: 'team',
      id: teamId,
      title: 'Writers',
      members: 1,
      spaces: 3,
      createdAt: identity.clock.now().toISOString(),
      permissions: { admin: true, view: true },
    });
    const rename = { params, body: { title: 'Editors' } };
    await expectProblem(
      identity.call(updateTeamInOrganizationById, await as('Ada'), { ...rename, ifMatch: '0' }),
      'precondition',
      'precondition.failed',
    );
    const renamed = await identity.call(updateTeamInOrganizationById, await as('Ada'), {
      ...rename,
      ifMatch: read.etag ?? '',
    });
    const again = await identity.call(getTeamInOrganizationById, await as('Ada'), { params });
    expect(again).toEqual(renamed);
    expect(again.body.title).toBe('Editors');
    expect(await teamsIn('Mia')).toContain(teamId);
    const removed = await identity.call(removeTeamFromOrganizationById, await as('Ada'), { params });
    expect(removed.status).toBe(205);
    expect((await identity.call(removeTeamFromOrganizationById, await as('Ada'), { params })).status).toBe(204);
    expect(await teamsIn('Mia')).not.toContain(teamId);
    await expectProblem(
      identity.call(getTeamInOrganizationById, await as('Ada'), { params }),
      'not-found',
      'team.not_found',
    );
  });

  test('takes members of the organization alone, and nothing when one is not', async () => {
    const body = { title: 'Strangers', members: [idOf('Mia'), idOf('Eve')] };
    await expectProblem(
      identity.call(createOrganizationTeam, await as('Ada'), { params: { organizationId }, body }),
      'invalid',
      'team.not_a_member',
    );
    const teamId = await createTeam('Own');
    for (const add of [[idOf('Mia'), idOf('Eve')], ['eve@example.org'], ['no.body@example.org'], ['nobody']])
      await expectProblem(change('Ada', teamId, { add }), 'invalid', 'team.not_a_member');
    await expectProblem(
      change('Ada', teamId, { memberships: { [idOf('Eve')]: { role: 'owner' } } }),
      'invalid',
      'team.not_a_member',
    );
    expect(await membersOf(teamId)).toEqual([]);
  });

  test('changes many members at once, by id, email and role; who is in both lists is out', async () => {
    const teamId = await createTeam('Bulk', ['Mia', 'Gus']);
    expect(
      await change('Ada', teamId, {
        add: ['OLGA@example.org', idOf('Mia'), idOf('Stan')],
        remove: [idOf('Stan'), 'gus@example.org', 'nobody@example.org', 'nobody'],
        memberships: { [idOf('Olga')]: { role: 'owner' } },
      }),
    ).toMatchObject({ status: 204 });
    expect(await membersOf(teamId)).toEqual([
      ['Mia', 'member'],
      ['Olga', 'owner'],
    ]);
    const { body } = await identity.call(getTeamInOrganizationById, await as('Ada'), {
      params: { organizationId, teamId },
    });
    expect(body.members).toBe(2);
    expect([await teamsIn('Olga'), await teamsIn('Gus')].map((teams) => teams.includes(teamId))).toEqual([true, false]);
  });
});

describe('who may', () => {
  test('owners manage their team and no other, members see, guests see only their own, strangers nothing', async () => {
    const teamId = await createTeam('Ours');
    const other = await createTeam('Theirs');
    await change('Ada', teamId, {
      memberships: { [idOf('Olga')]: { role: 'owner' }, [idOf('Gus')]: { role: 'member' } },
    });
    const params = { organizationId, teamId };
    const see = async (name: string, id = teamId) =>
      (await identity.call(getTeamInOrganizationById, await as(name), { params: { organizationId, teamId: id } })).body
        .permissions;
    expect(await see('Olga')).toEqual({ admin: true, view: true });
    expect(await see('Olga', other)).toEqual({ admin: false, view: true });
    expect(await see('Mia')).toEqual({ admin: false, view: true });
    expect(await see('Gus')).toEqual({ admin: false, view: true });
    await expectProblem(see('Gus', other), 'not-found', 'team.not_found');
    await expectProblem(see('Eve'), 'not-found', 'organization.not_found');

    const add = { add: [idOf('Mia')] };
    expect((await change('Olga', teamId, add)).status).toBe(204);
    await expectProblem(change('Olga', other, add), 'forbidden', 'team.managers_only');
    await expectProblem(change('Mia', teamId, add), 'forbidden', 'team.managers_only');
    await expectProblem(change('Gus', other, add), 'not-found', 'team.not_found');
    await expectProblem(change('Eve', teamId, add), 'not-found', 'organization.not_found');
    const title = { title: 'Mine' };
    const asMia = await as('Mia');
    for (const work of [
      identity.call(updateTeamInOrganizationById, asMia, { params, body: title }),
      identity.call(removeTeamFromOrganizationById, asMia, { params }),
      identity.call(addMemberToOrganizationTeamById, asMia, {
        params: { ...params, userId: asMia.id },
        body: { role: 'owner' },
      }),
      identity.call(deleteMemberFromOrganizationTeamById, asMia, { params: { ...params, userId: asMia.id } }),
    ])
      await expectProblem(work, 'forbidden', 'team.managers_only');
    for (const name of ['Olga', 'Mia'])
      await expectProblem(
        identity.call(createOrganizationTeam, await as(name), { params: { organizationId }, body: title }),
        'forbidden',
        'team.administrators_only',
      );
    await expectProblem(
      identity.call(listTeamsInOrganizationById, await as('Gus'), { params: { organizationId } }),
      'forbidden',
      'team.guest',
    );
  });

  test('another organization reaches no team by its id', async () => {
    const teamId = await createTeam('Ours alone', ['Mia']);
    const created = await identity.call(createOrganization, await as('Eve'), { body: { title: 'Eve' } });
    const params = { organizationId: created.body.id, teamId };
    const eve = await as('Eve');
    const add = { add: [eve.id] };
    for (const work of [
      identity.call(getTeamInOrganizationById, eve, { params }),
      identity.call(listTeamMembersInOrganizationById, eve, { params }),
      identity.call(updateTeamInOrganizationById, eve, { params, body: { title: 'Mine' } }),
      identity.call(updateMembersInOrganizationTeam, eve, { params, body: add }),
      identity.call(addMemberToOrganizationTeamById, eve, { params: { ...params, userId: eve.id } }),
      identity.call(deleteMemberFromOrganizationTeamById, eve, { params: { ...params, userId: idOf('Mia') } }),
    ])
      await expectProblem(work, 'not-found', 'team.not_found');
    expect((await identity.call(removeTeamFromOrganizationById, eve, { params })).status).toBe(204);
    const loaded = await identity.call(loadTeams, eve, { body: { ids: [teamId] } });
    expect(loaded.body.teams).toEqual([]);
    expect(await membersOf(teamId)).toEqual([['Mia', 'member']]);
  });
});

describe('one member', () => {
  test('is added, made owner, left alone and removed', async () => {
    const teamId = await createTeam('Single');
    const params = { organizationId, teamId, userId: idOf('Mia') };
    const put = async (body?: { role?: 'owner' | 'member' }) =>
      identity.call(
        addMemberToOrganizationTeamById,
        await as('Ada'),
        body === undefined ? { params } : { params, body },
      );
    expect((await put()).status).toBe(204);
    expect(await membersOf(teamId)).toEqual([['Mia', 'member']]);
    await put({ role: 'owner' });
    await put({});
    expect(await membersOf(teamId)).toEqual([['Mia', 'owner']]);
    const remove = async () => identity.call(deleteMemberFromOrganizationTeamById, await as('Mia'), { params });
    expect((await remove()).status).toBe(205);
    await expectProblem(remove(), 'forbidden', 'team.managers_only');
    await expectProblem(
      identity.call(addMemberToOrganizationTeamById, await as('Ada'), { params: { ...params, userId: idOf('Eve') } }),
      'not-found',
      'member.not_found',
    );
  });

  test('forty changes at once leave what the last ones say, and a count that fits', async () => {
    const teamId = await createTeam('Busy');
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        change('Ada', teamId, n % 2 === 0 ? { add: [idOf('Mia')] } : { remove: [idOf('Mia')] }),
      ),
    );
    const { body } = await identity.call(getTeamInOrganizationById, await as('Ada'), {
      params: { organizationId, teamId },
    });
    expect((await membersOf(teamId)).length).toBe(body.members);
    expect((await teamsIn('Mia')).includes(teamId)).toBe(body.members === 1);
  });

  test('who leaves the organization leaves its teams, and comes back without them', async () => {
    const teamId = await createTeam('Leaving', ['Stan', 'Mia']);
    const params = { organizationId, userId: idOf('Stan') };
    expect((await identity.call(removeMemberFromOrganizationById, await as('Ada'), { params })).status).toBe(205);
    expect((await as('Stan')).organizations[organizationId]).toBeUndefined();
    await until('Stan left the team', async () => (await membersOf(teamId)).length === 1);
    await until('the team counts one', async () => {
      const team = { params: { organizationId, teamId } };
      return (await identity.call(getTeamInOrganizationById, await as('Ada'), team)).body.members === 1;
    });
    await join('Stan', 'read');
    expect(await teamsIn('Stan')).toEqual([]);
  });
});

describe('lists', () => {
  test('by title, with filters, in pages that fit together', async () => {
    for (const title of ['Zürich', 'alpha', 'Éclair']) await createTeam(title);
    const list = async (query: { title?: string; owner?: string; limit?: number; page?: string }, by = 'Ada') =>
      (await identity.call(listTeamsInOrganizationById, await as(by), { params: { organizationId }, query })).body;
    const all = await list({});
    expect(all.items.map(({ title }) => title)).toEqual(
      expect.arrayContaining(['alpha', 'Éclair', 'Ours', 'Theirs', 'Zürich']),
    );
    expect(all.items[0]?.title).toBe('alpha');
    expect(all.items.at(-1)?.title).toBe('Zürich');
    expect((await list({ title: 'ECL' })).items.map(({ title }) => title)).toEqual(['Éclair']);
    expect((await list({ title: '%' })).items).toEqual([]);
    const owned = await list({ owner: idOf('Olga') }, 'Mia');
    expect(owned.items.map(({ title }) => title)).toEqual(['Bulk', 'Ours']);
    expect((await list({ owner: idOf('Ada') })).count).toBe(all.count);
    expect((await list({ owner: idOf('Eve') })).items).toEqual([]);
    for (const query of [{}, { title: 'u' }]) {
      const whole = await list(query);
      const seen: string[] = [];
      for (let page: string | undefined, more = true; more; ) {
        const part = await list({ ...query, limit: 2, ...(page === undefined ? {} : { page }) });
        seen.push(...part.items.map(({ id }) => id));
        page = part.next?.page;
        more = page !== undefined;
      }
      expect(seen).toEqual(whole.items.map(({ id }) => id));
    }
    const { next } = await list({ limit: 1 });
    await expectProblem(list({ page: next?.page ?? '', title: 'a' }), 'invalid', 'cursor.invalid');
  });

  test('are the same after a rebuild', async () => {
    const params = { organizationId };
    const before = await identity.call(listTeamsInOrganizationById, await as('Ada'), { params });
    const members = await Promise.all(before.body.items.map(({ id }) => membersOf(id)));
    await identity.service.rebuild();
    expect(await identity.call(listTeamsInOrganizationById, await as('Ada'), { params })).toEqual(before);
    expect(await Promise.all(before.body.items.map(({ id }) => membersOf(id)))).toEqual(members);
  });
});

test('a repeated request makes one team', async () => {
  const ids = () => createIdSource('a key');
  const make = async () =>
    identity.call(createOrganizationTeam, await as('Ada'), {
      params: { organizationId },
      body: { title: 'Once', members: [idOf('Mia')] },
      ids: ids(),
    });
  expect(await make()).toEqual(await make());
});
