import { operations } from '@bindery/contracts';
import { type MemberRole, notFound } from '@bindery/service-kit';
import { until } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectProblem } from '../../api/testing.ts';
import { tokenHashOf } from '../tokens/index.ts';
import { type InternalHandlers, startInvites, type TestInvites } from './testing.ts';

const { createOrganization, createOrganizationInvite, deleteOrganizationInviteById, getOrganizationInviteLink } =
  operations;
const { joinOrganizationWithInvite, listOrganizationInviteLinks, updateOrganizationById } = operations;
const { updateOrganizationInviteById } = operations;

let identity: TestInvites['identity'];
let organizationId: TestInvites['organizationId'];
let as: TestInvites['as'];
let setLinks: TestInvites['setLinks'];
let roleOf: TestInvites['roleOf'];
let inviteBy: TestInvites['inviteBy'];
let bytesOf: TestInvites['bytesOf'];

/** What the content service was asked to grant. */
const grants: unknown[] = [];
let handbookIsGone = false;
const collection = (id: string, organization: string) => ({
  object: 'collection',
  id,
  title: 'Handbook',
  organization,
  defaultLevel: null,
  urls: { location: 'https://docs.example.org/a', app: 'https://docs.example.org/b' },
  permissions: { view: true, admin: true, viewInviteLinks: true, create: true },
});

type Grant = { role: MemberRole | null } | { level: MemberRole | null; collection: string };
const makeLink = async (body: Grant, by = 'Ada') =>
  (await identity.call(createOrganizationInvite, await as(by), { params: { organizationId }, body })).body;
const joinWith = async (name: string, inviteId: string, organization = organizationId) =>
  identity.call(joinOrganizationWithInvite, await as(name), { params: { organizationId: organization, inviteId } });

beforeAll(async () => {
  const content = {
    loadCollections: async (_context, { body }) => ({
      status: 200,
      body: {
        collections: Object(body).ids.flatMap((id: string) =>
          id === 'handbook' ? [collection(id, organizationId)] : id === 'foreign' ? [collection(id, 'other')] : [],
        ),
      },
    }),
    grantContentAccess: async (_context, { body }) => {
      if (Object(body).collection !== 'handbook' || handbookIsGone) throw notFound('collection');
      // Without a level it only says whether the collection is there.
      if (Object(body).level !== null) grants.push(body);
      return { status: 204 };
    },
  } satisfies InternalHandlers;
  ({ identity, organizationId, as, setLinks, roleOf, inviteBy, bytesOf } = await startInvites({}, content));
});
afterAll(() => identity.dispose());

describe('a link', () => {
  test('lets whoever knows it join with its role, once and again', async () => {
    const link = await makeLink({ role: 'edit' });
    expect(link).toEqual({
      object: 'invite',
      id: expect.stringMatching(/^[A-Za-z0-9]{20,}$/),
      role: 'edit',
      redundant: true,
    });
    expect(await joinWith('Ben', link.id)).toMatchObject({ status: 200, body: {} });
    expect(await roleOf('Ben')).toBe('edit');
    await joinWith('Ben', link.id);
    expect(await roleOf('Ben')).toBe('edit');
  });

  test('raises a member and lowers nobody', async () => {
    const [guest, review] = [await makeLink({ role: null }), await makeLink({ role: 'create' })];
    await joinWith('Cleo', guest.id);
    expect(await roleOf('Cleo')).toBe(null);
    await joinWith('Cleo', review.id);
    expect(await roleOf('Cleo')).toBe('create');
    await joinWith('Cleo', guest.id);
    expect(await roleOf('Cleo')).toBe('create');
    await joinWith('Ada', guest.id);
    expect(await roleOf('Ada')).toBe('admin');
  });

  test('to content makes a guest with a level there', async () => {
    const link = await makeLink({ level: 'comment', collection: 'handbook' });
    expect(link).toMatchObject({ level: 'comment', collection: { id: 'handbook' } });
    expect(link).not.toHaveProperty('role');
    await joinWith('Dora', link.id);
    expect(await roleOf('Dora')).toBe(null);
    const userId = (await as('Dora')).id;
    expect(grants).toEqual([{ organizationId, collection: 'handbook', userId, level: 'comment' }]);
    for (const missing of ['nowhere', 'foreign'])
      await expectProblem(makeLink({ level: 'read', collection: missing }), 'not-found', 'collection.not_found');
  });

  test('to content that is gone lets nobody into the organization', async () => {
    const link = await makeLink({ level: 'comment', collection: 'handbook' });
    handbookIsGone = true;
    await expectProblem(joinWith('Olga', link.id), 'not-found', 'collection.not_found');
    handbookIsGone = false;
    expect(await roleOf('Olga')).toBeUndefined();
  });

  test('is changed, listed and deleted by administrators, and works no more from then on', async () => {
    const [link, onContent] = [
      await makeLink({ role: 'read' }),
      await makeLink({ level: 'read', collection: 'handbook' }),
    ];
    const ada = await as('Ada');
    const at = (inviteId: string) => ({ params: { organizationId, inviteId } });
    const changed = await identity.call(updateOrganizationInviteById, ada, {
      ...at(link.id),
      body: { role: 'review' },
    });
    expect(changed.body).toEqual({ ...link, role: 'review' });
    expect((await identity.call(getOrganizationInviteLink, ada, at(link.id))).body).toEqual(changed.body);
    await expectProblem(
      identity.call(updateOrganizationInviteById, ada, { ...at(link.id), body: { level: 'read' } }),
      'invalid',
      'invite.kind',
    );
    await expectProblem(
      identity.call(updateOrganizationInviteById, ada, { ...at(onContent.id), body: { role: 'admin' } }),
      'invalid',
      'invite.kind',
    );
    const listed = (await identity.call(listOrganizationInviteLinks, ada, { params: { organizationId } })).body.items;
    expect(listed).toContainEqual(changed.body);
    expect(listed.map(({ id }) => id)).not.toContain(onContent.id);
    await identity.service.rebuild();
    expect((await identity.call(listOrganizationInviteLinks, ada, { params: { organizationId } })).body.items).toEqual(
      listed,
    );
    expect((await identity.call(deleteOrganizationInviteById, ada, at(link.id))).status).toBe(205);
    expect((await identity.call(deleteOrganizationInviteById, ada, at(link.id))).status).toBe(204);
    await expectProblem(joinWith('Emil', link.id), 'not-found', 'invite.not_found');
    await expectProblem(identity.call(getOrganizationInviteLink, ada, at(link.id)), 'not-found', 'invite.not_found');
    expect(await roleOf('Emil')).toBeUndefined();
  });

  test('works only while the organization has links', async () => {
    const link = await makeLink({ role: 'read' });
    await setLinks(false);
    await expectProblem(joinWith('Fay', link.id), 'forbidden', 'invite.links_off');
    await expectProblem(makeLink({ role: 'read' }), 'forbidden', 'invite.links_off');
    await setLinks(true);
    await joinWith('Fay', link.id);
    expect(await roleOf('Fay')).toBe('read');
  });

  test('is the business of administrators, and of this organization alone', async () => {
    const link = await makeLink({ role: 'admin' });
    const at = (organization: string) => ({ params: { organizationId: organization, inviteId: link.id } });
    const ben = await as('Ben');
    for (const work of [
      makeLink({ role: 'admin' }, 'Ben'),
      identity.call(listOrganizationInviteLinks, ben, { params: { organizationId } }),
      identity.call(getOrganizationInviteLink, ben, at(organizationId)),
      identity.call(updateOrganizationInviteById, ben, { ...at(organizationId), body: { role: 'admin' } }),
      identity.call(deleteOrganizationInviteById, ben, at(organizationId)),
      inviteBy('Ben', { emails: ['a@example.org'], role: 'admin' }),
    ])
      await expectProblem(work, 'forbidden', 'organization.administrators_only');
    const created = await identity.call(createOrganization, await as('Eve'), { body: { title: 'Eve' } });
    const [eve, other] = [await as('Eve'), created.body.id];
    await identity.call(updateOrganizationById, eve, {
      params: { organizationId: other },
      body: { inviteLinks: true },
    });
    await expectProblem(
      identity.call(getOrganizationInviteLink, eve, at(organizationId)),
      'not-found',
      'organization.not_found',
    );
    await expectProblem(identity.call(getOrganizationInviteLink, eve, at(other)), 'not-found', 'invite.not_found');
    expect((await identity.call(deleteOrganizationInviteById, eve, at(other))).status).toBe(204);
    await expectProblem(joinWith('Eve', link.id, other), 'not-found', 'invite.not_found');
    await expectProblem(joinWith('Eve', 'guess'), 'not-found', 'invite.not_found');
    expect((await identity.call(getOrganizationInviteLink, await as('Ada'), at(organizationId))).body.id).toBe(link.id);
  });
});

test('nothing that lets people in is on the bus', async () => {
  const link = await makeLink({ role: 'admin' });
  await until('everything is published', async () => (await identity.service.status()).publisher?.lag === 0);
  const bytes = await bytesOf('bus');
  expect(bytes).toContain('invite-link.created');
  expect(bytes).not.toContain(link.id);
  expect(bytes).not.toContain(tokenHashOf(link.id));
});
