import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { limits, operations } from '@bindery/contracts';
import { type Mailer, type MailMessage, MailUnavailable } from '@bindery/mail';
import { createInProcessClient, type MemberRole, notFound, type Principal } from '@bindery/service-kit';
import { until } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectProblem, startIdentity, type TestIdentity } from '../../api/testing.ts';
import { tokenHashOf } from '../tokens/index.ts';

const {
  createOrganization,
  createOrganizationInvite,
  createUser,
  deleteOrganizationInviteById,
  getMemberInOrganizationById,
  getOrganizationInviteLink,
  inviteUsersToOrganization,
  joinOrganizationWithInvite,
  listOrganizationInviteLinks,
  updateOrganizationById,
  updateOrganizationInviteById,
} = operations;

let identity: TestIdentity;
let organizationId: string;
let counter = 0;
const people = new Map<string, { id: string; token: string }>();
const as = async (name: string): Promise<Principal> => {
  const known = people.get(name) ?? (await identity.newUser(name));
  people.set(name, known);
  return identity.principalOf(known.token);
};
const roleOf = async (name: string): Promise<MemberRole | null | undefined> =>
  (await as(name)).organizations[organizationId]?.role;

/** A mailbox that can be away, refuse, and remembers. */
const sent: MailMessage[] = [];
let mailIs: 'taken' | 'away' | 'refused' = 'taken';
const mailer: Mailer = {
  async send(message) {
    if (mailIs === 'away') throw new MailUnavailable('away');
    if (mailIs === 'refused') return 'refused';
    sent.push(message);
    return 'sent';
  },
  close: async () => undefined,
};
const mailsTo = (address: string): readonly MailMessage[] => sent.filter(({ to }) => to === address);

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
const setLinks = async (inviteLinks: boolean) =>
  identity.call(updateOrganizationById, await as('Ada'), { params: { organizationId }, body: { inviteLinks } });
type Emails = Parameters<typeof identity.call<typeof inviteUsersToOrganization>>[2] & object;
const inviteBy = async (name: string, body: NonNullable<Emails['body']>) =>
  (await identity.call(inviteUsersToOrganization, await as(name), { params: { organizationId }, body })).body;
const invite = (body: NonNullable<Emails['body']>) => inviteBy('Ada', body);
/** Registers whoever has an address, and says what it is in the organization. */
const arrive = async (email: string): Promise<MemberRole | null | undefined> => {
  counter += 1;
  const admin = await identity.admin();
  const { body } = await identity.call(createUser, admin, { body: { email, displayName: `Arrival ${counter}` } });
  const params = { organizationId, userId: body.id };
  const found = await identity.call(getMemberInOrganizationById, await as('Ada'), { params }).catch(() => undefined);
  return found?.body.role;
};
const invitationsOf = async (digest: string): Promise<readonly { readonly type: string; readonly data: unknown }[]> => {
  const events: { readonly type: string; readonly data: unknown }[] = [];
  for await (const event of identity.ports.eventStore.readStream(`identity.invitations-${digest}`)) events.push(event);
  return events;
};
const everything = async (): Promise<string> => {
  const files = (await readdir(identity.folder)).filter((name) => /^(events|bus|keys|read)\.db/.test(name));
  const contents = await Promise.all(files.map((name) => readFile(join(identity.folder, name), 'latin1')));
  return contents.join('\n').toLowerCase();
};

beforeAll(async () => {
  identity = await startIdentity({
    options: { mailer, publicUrl: () => 'https://docs.example.org' },
    services: createInProcessClient({
      countSpacesOfMembers: async (_context, { body }) => ({
        status: 200,
        body: { counts: Object(body).members.map(() => 0) },
      }),
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
    }),
  });
  const created = await identity.call(createOrganization, await as('Ada'), { body: { title: 'Inviters' } });
  organizationId = created.body.id;
  await setLinks(true);
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

describe('inviting by email', () => {
  test('adds who has an account, and keeps the rest until it comes', async () => {
    const gil = await as('Gil');
    const answer = await invite({
      emails: ['GIL@example.org', { email: 'New.One@example.org', role: 'review' }],
      role: 'read',
    });
    expect(answer).toEqual({ users: [gil.id], invited: 1 });
    expect(await roleOf('Gil')).toBe('read');
    await until('the mail is sent', () => mailsTo('new.one@example.org').length === 1);
    const [mail] = mailsTo('new.one@example.org');
    expect(mail?.subject).toContain('Inviters');
    expect(mail?.text).toContain('https://docs.example.org');
    expect(mail?.text).toContain('Ada');
    expect(await arrive('new.one@EXAMPLE.org')).toBe('review');
  });

  test('lowers nobody, and takes one role per address', async () => {
    await invite({ emails: [{ email: 'ada@example.org', role: 'read' }, 'ben@example.org'], role: null });
    expect([await roleOf('Ada'), await roleOf('Ben')]).toEqual(['admin', 'edit']);
    expect(await invite({ emails: ['same@example.org', 'SAME@example.org'] })).toEqual({ users: [], invited: 1 });
    const two = [
      { email: 'same@example.org', role: 'read' as const },
      { email: 'Same@example.org', role: 'edit' as const },
    ];
    await expectProblem(invite({ emails: two }), 'invalid', 'invite.two_roles');
  });

  test('again changes what waits, and sends no second mail', async () => {
    await invite({ emails: ['twice@example.org'], role: 'read' });
    await invite({ emails: ['twice@example.org'], role: 'edit' });
    await invite({ emails: ['after@example.org'] });
    await until('the mails are sent', () => mailsTo('after@example.org').length === 1);
    expect(mailsTo('twice@example.org').length).toBe(1);
    expect(await arrive('twice@example.org')).toBe('edit');
  });

  test('without a role it is the default role, and a guest without one', async () => {
    await invite({ emails: ['guest@example.org'] });
    expect(await arrive('guest@example.org')).toBe(null);
    const params = { organizationId };
    await identity.call(updateOrganizationById, await as('Ada'), { params, body: { defaultRole: 'comment' } });
    await invite({ emails: ['usual@example.org', { email: 'explicit@example.org', role: null }] });
    expect([await arrive('usual@example.org'), await arrive('explicit@example.org')]).toEqual(['comment', null]);
  });

  test('with single sign-on needs a provider and a domain', async () => {
    expect(await invite({ emails: ['Sso@example.org'], sso: true })).toEqual({
      users: [],
      invited: 0,
      failedSSOEmails: ['Sso@example.org'],
    });
    expect(await arrive('sso@example.org')).toBeUndefined();
  });

  test('twenty requests for one address at once make one invitation and one mail', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => invite({ emails: ['crowd@example.org'], role: 'read' })),
    );
    expect(answers).toEqual(Array.from({ length: 20 }, () => ({ users: [], invited: 1 })));
    await invite({ emails: ['behind@example.org'] });
    await until('the mails are sent', () => mailsTo('behind@example.org').length === 1);
    expect(mailsTo('crowd@example.org').length).toBe(1);
    expect(await arrive('crowd@example.org')).toBe('read');
  });

  test('a server that is away holds up that mail alone, and a refusal ends it', async () => {
    mailIs = 'away';
    await invite({ emails: ['later@example.org'] });
    const reactor = async () =>
      (await identity.service.status()).reactors?.find(({ name }) => name === 'mail-invitations');
    await until('the mail is put aside', async () => ((await reactor())?.parked.length ?? 0) > 0);
    expect(JSON.stringify(await reactor())).not.toContain('later@');
    mailIs = 'refused';
    await invite({ emails: ['refused@example.org'] });
    await until('the refused one is done with', async () => (await reactor())?.lag === 0);
    mailIs = 'taken';
    await invite({ emails: ['taken@example.org'] });
    await until('the next one is sent', () => mailsTo('taken@example.org').length === 1);
    expect(mailsTo('refused@example.org')).toEqual([]);
  });

  test('leaves no address anywhere, and is withdrawn by its id', async () => {
    const marker = 'marker-address';
    await invite({ emails: [`${marker}@example.org`] });
    await until('the mail is sent', () => mailsTo(`${marker}@example.org`).length === 1);
    expect(await everything()).not.toContain(marker);
    const digest = identity.vault.emailDigest(`${marker}@example.org`);
    const events = await invitationsOf(digest);
    const data = Object(events[0]?.data);
    expect(await identity.keys.get(`invitation.${data.invitationId}`)).toBeDefined();
    const params = { organizationId, inviteId: data.invitationId };
    expect((await identity.call(deleteOrganizationInviteById, await as('Ada'), { params })).status).toBe(205);
    expect((await identity.call(deleteOrganizationInviteById, await as('Ada'), { params })).status).toBe(204);
    expect(await identity.keys.get(`invitation.${data.invitationId}`)).toBeUndefined();
    expect(await arrive(`${marker}@example.org`)).toBeUndefined();
  });

  test('a key goes with the acceptance too', async () => {
    await invite({ emails: ['accepted@example.org'] });
    const digest = identity.vault.emailDigest('accepted@example.org');
    await arrive('accepted@example.org');
    const events = await invitationsOf(digest);
    const { invitationId } = Object(events[0]?.data);
    expect(events.map(({ type }) => type)).toEqual(['EmailInvited', 'InvitationAccepted']);
    expect(await identity.keys.get(`invitation.${invitationId}`)).toBeUndefined();
  });
});

test('an invitation expires: it lets nobody in, its key goes, and the next one is a new one with a mail', async () => {
  await invite({ emails: ['slow@example.org', 'again@example.org'], role: 'edit' });
  await until(
    'the mails are sent',
    () => mailsTo('slow@example.org').length + mailsTo('again@example.org').length === 2,
  );
  identity.clock.forward(limits.invite.days * 86_400_000);
  expect(await arrive('slow@example.org')).toBeUndefined();
  const events = async () => invitationsOf(identity.vault.emailDigest('slow@example.org'));
  expect((await events()).map(({ type }) => type)).toEqual(['EmailInvited', 'InvitationWithdrawn']);
  const { invitationId } = Object((await events())[0]?.data);
  await until('the key is gone', async () => (await identity.keys.get(`invitation.${invitationId}`)) === undefined);
  expect(await invite({ emails: ['again@example.org'], role: 'read' })).toEqual({ users: [], invited: 1 });
  await until('the second mail is sent', () => mailsTo('again@example.org').length === 2);
  expect(await arrive('again@example.org')).toBe('read');
});

test('nothing that lets people in is on the bus', async () => {
  const link = await makeLink({ role: 'admin' });
  await until('everything is published', async () => (await identity.service.status()).publisher?.lag === 0);
  const files = (await readdir(identity.folder)).filter((name) => name.startsWith('bus.db'));
  const bytes = (await Promise.all(files.map((name) => readFile(join(identity.folder, name), 'latin1')))).join('');
  expect(bytes).toContain('invite-link.created');
  expect(bytes).not.toContain(link.id);
  expect(bytes).not.toContain(tokenHashOf(link.id));
});
