import { operations } from '@bindery/contracts';
import { createInProcessClient, type MemberRole, type Principal } from '@bindery/service-kit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startIdentity, type TestIdentity } from '../../api/testing.ts';

const { createOrganization, createOrganizationTeam, listAccessSubjects, putOrganizationMember, resolveSubjects } =
  operations;

let identity: TestIdentity;
let organizationId: string;
const people = new Map<string, { id: string; token: string }>();
const idOf = (name: string): string => people.get(name)?.id ?? '';
const as = (name: string): Promise<Principal> => identity.principalOf(people.get(name)?.token ?? '');

beforeAll(async () => {
  identity = await startIdentity({
    services: createInProcessClient({
      countSpacesOfMembers: async (_context, { body }) => ({
        status: 200,
        body: { counts: Object(body).members.map(() => 0) },
      }),
      countSpacesOfTeams: async (_context, { body }) => ({
        status: 200,
        body: { counts: Object(body).teams.map(() => 0) },
      }),
    }),
  });
  for (const name of ['Ada', 'Olga', 'Mia', 'Gus', 'Stan', 'Eve']) people.set(name, await identity.newUser(name));
  const created = await identity.call(createOrganization, await as('Ada'), { body: { title: 'Subjects' } });
  organizationId = created.body.id;
  const roles: readonly (readonly [string, MemberRole | null])[] = [
    ['Olga', 'read'],
    ['Mia', 'read'],
    ['Stan', 'read'],
    ['Gus', null],
  ];
  for (const [name, role] of roles) {
    const params = { organizationId, userId: idOf(name) };
    await identity.call(putOrganizationMember, await identity.admin(), { params, body: { role } });
  }
});
afterAll(() => identity.dispose());

test('subjects of access are resolved by organization, and listed with their teams', async () => {
  const params = { organizationId };
  const { body: team } = await identity.call(createOrganizationTeam, await as('Ada'), {
    params,
    body: { title: 'Subjects', members: [idOf('Mia')] },
  });
  const teamId = team.id;
  const ada = await as('Ada');
  const resolved = await identity.call(resolveSubjects, ada, {
    body: { organizationId, users: [idOf('Mia'), idOf('Eve'), 'nobody'], teams: [teamId, 'none'] },
  });
  expect(resolved.body).toEqual({ users: [idOf('Mia')], teams: [teamId] });
  const elsewhere = { organizationId: identity.organizationId, users: [idOf('Mia')], teams: [teamId] };
  expect((await identity.call(resolveSubjects, ada, { body: elsewhere })).body).toEqual({ users: [], teams: [] });
  const subjects: { userId: string; role: MemberRole | null; teams: readonly string[] }[] = [];
  for (let page: string | undefined, more = true; more; ) {
    const body = { organizationId, limit: 2, ...(page === undefined ? {} : { page }) };
    const part = await identity.call(listAccessSubjects, ada, { body });
    subjects.push(...part.body.items);
    page = part.body.next?.page;
    more = page !== undefined;
  }
  expect(subjects.map(({ userId }) => userId).sort()).toEqual(['Ada', 'Olga', 'Mia', 'Gus', 'Stan'].map(idOf).sort());
  expect(subjects.find(({ userId }) => userId === idOf('Mia'))?.teams).toContain(teamId);
});
