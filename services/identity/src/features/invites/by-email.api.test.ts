import { limits, operations } from '@bindery/contracts';
import { type Mailer, type MailMessage, MailUnavailable } from '@bindery/mail';
import type { MemberRole } from '@bindery/service-kit';
import { until } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectProblem } from '../../api/testing.ts';
import { startInvites, type TestInvites } from './testing.ts';

const { createUser, deleteOrganizationInviteById, getMemberInOrganizationById, updateOrganizationById } = operations;

let counter = 0;
let identity: TestInvites['identity'];
let organizationId: TestInvites['organizationId'];
let as: TestInvites['as'];
let roleOf: TestInvites['roleOf'];
let inviteBy: TestInvites['inviteBy'];
let bytesOf: TestInvites['bytesOf'];

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

const invite = (body: Parameters<typeof inviteBy>[1]) => inviteBy('Ada', body);
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

beforeAll(async () => {
  ({ identity, organizationId, as, roleOf, inviteBy, bytesOf } = await startInvites({ mailer }));
  // Ben is a member before anybody invites him.
  await as('Ben');
  await invite({ emails: ['ben@example.org'], role: 'edit' });
});
afterAll(() => identity.dispose());

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
    expect((await bytesOf('events', 'bus', 'keys', 'read')).toLowerCase()).not.toContain(marker);
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
