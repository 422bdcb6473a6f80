import { MemberRole, TeamMemberRole } from '@gitbook/api';
import { describe, expect, test } from '@jest/globals';
import type { World } from './world.ts';

/** Teams, and what spaces and collections they and users are let into. */
export const teams = (world: () => World): void =>
  describe('teams and permissions', () => {
    let team: string;

    test('made, listed, renamed', async () => {
      const { admin, ada, organization } = world();
      const { orgs } = admin.api;
      const made = await orgs.createOrganizationTeam(organization, { title: 'Writers', members: [ada.id] });
      expect(made.status).toBe(201);
      team = made.data.id;
      await orgs.updateTeamInOrganizationById(organization, team, { title: 'Editors' });
      expect((await orgs.getTeamInOrganizationById(organization, team)).data).toMatchObject({
        object: 'team',
        title: 'Editors',
        members: 1,
      });
      const listed = async (title: string) =>
        (await orgs.listTeamsInOrganizationById(organization, { title })).data.items.map(({ id }) => id);
      expect([await listed('edit'), await listed('writ')]).toEqual([[team], []]);
    });

    test('members: added, owners, many at once, removed', async () => {
      const { admin, ada, bob, organization } = world();
      const { orgs } = admin.api;
      const members = async () =>
        (await orgs.listTeamMembersInOrganizationById(organization, team)).data.items
          .map(({ organization: { id }, team: { role } }) => `${id} ${role}`)
          .sort();
      expect(await members()).toEqual([`${ada.id} member`]);
      await orgs.addMemberToOrganizationTeamById(organization, team, bob.id, { role: TeamMemberRole.Owner });
      expect(await members()).toEqual([`${ada.id} member`, `${bob.id} owner`].sort());
      const owned = await orgs.listTeamsInOrganizationById(organization, { owner: bob.id });
      expect(owned.data.items.map(({ id }) => id)).toEqual([team]);
      // An owner manages the team without administering the organization.
      await bob.api.orgs.updateMembersInOrganizationTeam(organization, team, {
        add: [admin.id],
        remove: [ada.email],
        memberships: { [bob.id]: { role: TeamMemberRole.Member } },
      });
      expect(await members()).toEqual([`${admin.id} member`, `${bob.id} member`].sort());
      expect((await orgs.deleteMemberFromOrganizationTeamById(organization, team, admin.id)).status).toBe(205);
      expect((await orgs.deleteMemberFromOrganizationTeamById(organization, team, admin.id)).status).toBe(204);
      const { items } = (await orgs.listTeamsForOrganizationMember(organization, bob.id)).data;
      expect(items).toMatchObject([{ team: { id: team }, member: { role: 'member' } }]);
    });

    const permissions = (what: 'space' | 'collection'): void =>
      test(`permissions on a ${what}: of users, of teams, of everybody`, async () => {
        const { admin, ada, bob, organization } = world();
        const { orgs, spaces, collections } = admin.api;
        const group = what === 'space' ? spaceCalls(admin.api) : collectionCalls(admin.api);
        const id =
          what === 'space'
            ? (await orgs.createSpace(organization, { title: 'Closed' })).data.id
            : (await orgs.createCollection(organization, { title: 'Closed' })).data.id;
        if (what === 'space') await spaces.updateSpaceById(id, { defaultLevel: null });
        else await collections.updateCollectionById(id, { defaultLevel: null });
        const view = async (who: typeof bob): Promise<boolean> =>
          (what === 'space' ? who.api.spaces.getSpaceById(id) : who.api.collections.getCollectionById(id)).then(
            () => true,
            () => false,
          );
        expect([await view(ada), await view(bob)]).toEqual([false, false]);

        await group.invite(id, { role: MemberRole.Comment, users: [ada.id] });
        await group.invite(id, { role: MemberRole.Read, teams: [team] });
        expect([await view(ada), await view(bob)]).toEqual([true, true]);
        const users = async () =>
          (await group.listUsers(id)).data.items.map((it) => [it.user.id, it.permission] as const);
        const ofTeams = async () =>
          (await group.listTeams(id)).data.items.map((it) => [it.team.id, it.permission] as const);
        expect(await users()).toEqual(expect.arrayContaining([[ada.id, 'comment']]));
        expect(await ofTeams()).toEqual([[team, 'read']]);
        await group.updateUser(id, ada.id, { role: MemberRole.Edit });
        await group.updateTeam(id, team, { role: MemberRole.Review });
        expect(await users()).toEqual(expect.arrayContaining([[ada.id, 'edit']]));
        expect(await ofTeams()).toEqual([[team, 'review']]);
        const everybody = (await group.aggregate(id)).data.items.map((it) => [it.user.id, it.permission]);
        expect(everybody.sort()).toEqual(
          [
            [admin.id, 'admin'],
            [ada.id, 'edit'],
            [bob.id, 'review'],
          ].sort(),
        );
        const reviewers = (await group.aggregate(id, { role: MemberRole.Review })).data.items;
        expect(reviewers.map((it) => it.user.id)).toEqual([bob.id]);
        if (what === 'space') {
          const { items } = (await orgs.listSpacesForOrganizationMember(organization, bob.id)).data;
          expect(items).toEqual(
            expect.arrayContaining([
              expect.objectContaining({ permission: 'review', space: expect.objectContaining({ id }) }),
            ]),
          );
        }
        expect((await group.removeUser(id, ada.id)).status).toBe(205);
        expect((await group.removeUser(id, ada.id)).status).toBe(204);
        expect((await group.removeTeam(id, team)).status).toBe(205);
        expect([await view(ada), await view(bob)]).toEqual([false, false]);
        await expect(group.updateUser(id, ada.id, { role: MemberRole.Read })).rejects.toMatchObject({ code: 404 });
      });
    permissions('space');
    permissions('collection');

    test('a removed team is gone', async () => {
      const { admin, bob, organization } = world();
      const { orgs } = admin.api;
      expect((await orgs.removeTeamFromOrganizationById(organization, team)).status).toBe(205);
      expect((await orgs.removeTeamFromOrganizationById(organization, team)).status).toBe(204);
      expect((await orgs.listTeamsForOrganizationMember(organization, bob.id)).data.items).toEqual([]);
      await expect(orgs.getTeamInOrganizationById(organization, team)).rejects.toMatchObject({ code: 404 });
    });
  });

type Api = World['admin']['api'];

const spaceCalls = ({ spaces }: Api) => ({
  invite: spaces.inviteToSpace,
  listUsers: spaces.listUserPermissionsInSpace,
  listTeams: spaces.listTeamPermissionsInSpace,
  updateUser: spaces.updateUserPermissionInSpace,
  updateTeam: spaces.updateTeamPermissionInSpace,
  removeUser: spaces.removeUserFromSpace,
  removeTeam: spaces.removeTeamFromSpace,
  aggregate: spaces.listPermissionsAggregateInSpace,
});

const collectionCalls = ({ collections }: Api) => ({
  invite: collections.inviteToCollection,
  listUsers: collections.listUserPermissionsInCollection,
  listTeams: collections.listTeamPermissionsInCollection,
  updateUser: collections.updateUserPermissionInCollection,
  updateTeam: collections.updateTeamPermissionInCollection,
  removeUser: collections.removeUserFromCollection,
  removeTeam: collections.removeTeamFromCollection,
  aggregate: collections.listPermissionsAggregateInCollection,
});
