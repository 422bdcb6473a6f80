import { newSigningIdentity } from '@bindery/testing/saml';
import { MemberRole } from '@gitbook/api';
import { describe, expect, test } from '@jest/globals';
import type { World } from './world.ts';

/** Organizations, their members, invites, single sign-on and audit. */
export const organizations = (world: () => World): void =>
  describe('organizations', () => {
    let own: string;

    test('users: oneself, another, a new name', async () => {
      const { admin, ada } = world();
      expect((await ada.api.user.getAuthenticatedUser()).data).toMatchObject({ object: 'user', email: ada.email });
      expect((await admin.api.users.getUserById(ada.id)).data.displayName).toBe('ada');
      const { data } = await ada.api.users.updateUserById(ada.id, { displayName: 'Ada L.' });
      expect(data.displayName).toBe('Ada L.');
      expect((await admin.api.users.getUserById(ada.id)).data.displayName).toBe('Ada L.');
      await expect(admin.api.users.getUserById('nobody')).rejects.toMatchObject({ code: 404 });
    });

    test('made, changed, listed; found by hostname', async () => {
      const { admin, bob } = world();
      const { orgs, subdomains } = admin.api;
      const made = await orgs.createOrganization({ title: 'Second', emailDomains: ['example.com'] });
      expect(made.status).toBe(201);
      own = made.data.id;
      expect(made.headers.get('location')).toContain(own);
      await expect(bob.api.orgs.getOrganizationById(own)).rejects.toMatchObject({ code: 404 });
      const { data } = await orgs.updateOrganizationById(own, {
        title: 'The second',
        hostname: 'second',
        inviteLinks: true,
        defaultRole: MemberRole.Comment,
        mergeRules: { type: 'none' },
      });
      expect(data).toMatchObject({ title: 'The second', hostname: 'second', defaultRole: 'comment' });
      expect((await orgs.getOrganizationById(own)).data).toMatchObject({ title: 'The second' });
      const { items } = (await orgs.listOrganizationsForAuthenticatedUser()).data;
      expect(items.map(({ id }) => id)).toEqual(expect.arrayContaining([own, world().organization]));
      expect((await subdomains.getSubdomain('second')).data).toMatchObject({
        subdomain: 'second',
        isActive: true,
        target: { organization: own },
      });
      await expect(
        orgs.updateOrganizationById(own, { defaultContent: { type: 'site', site: 'nowhere' } }),
      ).rejects.toMatchObject({ code: 400 });
    });

    test('agent instructions', async () => {
      const { orgs } = world().admin.api;
      expect((await orgs.getOrganizationAgentInstructions(own)).data).toMatchObject({
        instructions: { object: 'document' },
      });
      const { data: before } = await orgs.getOrganizationAgentInstructions(own);
      const instructions = { ...before.instructions, data: { said: 'be kind' } };
      const { data } = await orgs.updateOrganizationAgentInstructions(own, { instructions });
      expect(data.instructions).toMatchObject({ data: { said: 'be kind' } });
      expect((await orgs.getOrganizationAgentInstructions(own)).data.instructions).toEqual(data.instructions);
    });

    test('joining by email domain', async () => {
      const { admin, ada, bob } = world();
      const found = await ada.api.emailDomains.getOrganizationsForEmailDomain('example.com');
      expect(found.data.organizations.map(({ id }) => id)).toEqual([own]);
      expect((await ada.api.orgs.joinOrganization(own)).status).toBe(204);
      expect((await admin.api.orgs.getMemberInOrganizationById(own, ada.id)).data.role).toBe('comment');
      await expect(bob.api.orgs.joinOrganization('nowhere')).rejects.toMatchObject({ code: 404 });
    });

    test('invite links: made, listed, changed, used, deleted', async () => {
      const { admin, bob } = world();
      const { orgs } = admin.api;
      const made = await orgs.createOrganizationInvite(own, { role: MemberRole.Read });
      expect(made.status).toBe(201);
      const { id } = made.data;
      expect((await orgs.listOrganizationInviteLinks(own)).data.items).toMatchObject([{ id, role: 'read' }]);
      await orgs.updateOrganizationInviteById(own, id, { role: MemberRole.Review });
      expect((await orgs.getOrganizationInviteLink(own, id)).data).toMatchObject({ object: 'invite', role: 'review' });
      expect((await bob.api.orgs.joinOrganizationWithInvite(own, id)).data).toEqual({});
      expect((await orgs.getMemberInOrganizationById(own, bob.id)).data.role).toBe('review');
      expect((await orgs.deleteOrganizationInviteById(own, id)).status).toBe(205);
      expect((await orgs.deleteOrganizationInviteById(own, id)).status).toBe(204);
      expect((await orgs.listOrganizationInviteLinks(own)).data.items).toEqual([]);
    });

    test('invites by email', async () => {
      const { admin, ada } = world();
      const { data } = await admin.api.orgs.inviteUsersToOrganization(own, {
        emails: [ada.email, { email: 'carl@elsewhere.example', role: MemberRole.Read }],
        role: MemberRole.Edit,
      });
      expect(data).toMatchObject({ users: [ada.id], invited: expect.any(Number) });
      expect(data.invited).toBeGreaterThanOrEqual(1);
      await expect(admin.api.orgs.inviteUsersToOrganization(own, { emails: ['nonsense'] })).rejects.toMatchObject({
        code: 400,
      });
    });

    test('members: searched, sorted, seen, changed, removed; the last administrator stays', async () => {
      const { admin, ada, bob } = world();
      const { orgs } = admin.api;
      const found = async (query: Parameters<typeof orgs.listMembersInOrganizationById>[1]) =>
        (await orgs.listMembersInOrganizationById(own, query)).data.items.map(({ id }) => id);
      expect(await found({ sort: 'name', order: 'asc' })).toHaveLength(3);
      expect(await found({ search: 'ADA L' })).toEqual([ada.id]);
      expect(await found({ role: MemberRole.Admin })).toEqual([admin.id]);
      const seenOf = async (): Promise<string | undefined> =>
        (await orgs.getMemberInOrganizationById(own, bob.id)).data.lastSeenAt;
      const seen = await seenOf();
      expect((await bob.api.orgs.updateOrganizationMemberLastSeenAt(own)).data).toEqual({});
      expect(await seenOf()).toEqual(expect.any(String));
      expect(await seenOf()).not.toBe(seen);
      const { data } = await orgs.updateMemberInOrganizationById(own, bob.id, { role: MemberRole.Admin });
      expect(data.role).toBe('admin');
      expect((await bob.api.orgs.getOrganizationById(own)).data.permissions.admin).toBe(true);
      await orgs.updateMemberInOrganizationById(own, bob.id, { role: MemberRole.Read });
      await expect(orgs.updateMemberInOrganizationById(own, admin.id, { role: MemberRole.Read })).rejects.toMatchObject(
        { code: 409 },
      );
      expect((await orgs.removeMemberFromOrganizationById(own, bob.id)).status).toBe(205);
      await expect(bob.api.orgs.getOrganizationById(own)).rejects.toMatchObject({ code: 404 });
      expect(await found({ search: 'bob' })).toEqual([]);
    });

    test('SAML providers and who signs in through them', async () => {
      const { admin, ada } = world();
      const { orgs } = admin.api;
      const made = await orgs.createOrganizationSamlProvider(own, { label: 'Company' });
      expect(made.status).toBe(201);
      const { id } = made.data;
      expect(made.data).toMatchObject({ status: 'pending', label: 'Company' });
      await expect(orgs.setUserAsSsoMemberForOrganization(own, ada.id)).rejects.toMatchObject({ code: 409 });
      const { certificate } = newSigningIdentity('Company');
      const { data } = await orgs.updateOrganizationSamlProvider(own, id, {
        entityID: 'https://idp.example.com',
        ssoURL: 'https://idp.example.com/sso',
        certificate,
        defaultRole: MemberRole.Read,
      });
      expect(data).toMatchObject({ status: 'active', label: 'Company', defaultRole: 'read' });
      expect((await orgs.getOrganizationSamlProviderById(own, id)).data.service.acsURL).toContain(
        new URL(world().product.url).port,
      );
      expect((await orgs.listSamlProvidersInOrganizationById(own)).data.items).toMatchObject([{ id }]);
      expect((await ada.api.orgs.listSsoProviderLoginsInOrganization(own)).data.items).toEqual([
        { id, label: 'Company', startURL: data.service.startURL },
      ]);
      expect((await orgs.setUserAsSsoMemberForOrganization(own, ada.id)).data).toMatchObject({ id: ada.id, sso: true });
      expect((await orgs.deleteOrganizationSamlProvider(own, id)).status).toBe(205);
      expect((await orgs.deleteOrganizationSamlProvider(own, id)).status).toBe(204);
      await expect(orgs.getOrganizationSamlProviderById(own, id)).rejects.toMatchObject({ code: 404 });
    });

    test('audit: what happened above, one by one', async () => {
      const { orgs } = world().admin.api;
      const actions = (await orgs.listOrganizationAuditEventActions(own)).data.items.map(({ id }) => id);
      const { items } = (await orgs.listOrganizationAuditEvents(own, { limit: 100 })).data;
      expect(items.length).toBeGreaterThan(10);
      expect(actions).toEqual(expect.arrayContaining(items.map(({ action }) => action)));
      const removed = items.find(({ target }) => target.id === world().bob.id);
      expect(removed).toBeDefined();
      const { data } = await orgs.getOrganizationAuditEvent(own, removed?.id ?? '');
      expect(data).toMatchObject({ id: removed?.id, actor: { id: world().admin.id }, payload: expect.any(Object) });
      await expect(world().ada.api.orgs.listOrganizationAuditEvents(own)).rejects.toMatchObject({ code: 403 });
    });
  });
