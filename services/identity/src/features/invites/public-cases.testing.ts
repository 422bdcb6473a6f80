import type { DomainEvent } from '@bindery/event-sourcing';

/** Domain events of teams and invites with the public events that they become; `secret` must not come out. */
export const teamAndInviteCases = (
  secret: string,
  at: string,
): readonly (readonly [string | undefined, DomainEvent])[] => {
  const team = { organizationId: 'o1', teamId: 't1' };
  const link = { organizationId: 'o1', inviteId: secret };
  const grant = { kind: 'space', id: 's1', role: 'read' };
  const invitation = { emailDigest: secret, organizationId: 'o1', invitationId: 'i1' };
  const members = [{ userId: 'u1', role: 'owner' }];
  const name = (rest: string): string => `bindery.identity.${rest}.v1`;
  return [
    [name('team.created'), { type: 'TeamCreated', data: { ...team, title: 'T', createdBy: 'u1', createdAt: at } }],
    [name('team.renamed'), { type: 'TeamRenamed', data: { ...team, title: 'T', renamedAt: at } }],
    [name('team.members-added'), { type: 'TeamMembersAdded', data: { ...team, members, addedAt: at } }],
    [name('team.member-roles-changed'), { type: 'TeamMemberRolesChanged', data: { ...team, members, changedAt: at } }],
    [name('team.members-removed'), { type: 'TeamMembersRemoved', data: { ...team, userIds: ['u1'], removedAt: at } }],
    [name('team.deleted'), { type: 'TeamDeleted', data: { ...team, deletedAt: at } }],
    [
      name('invite-link.created'),
      { type: 'InviteLinkCreated', data: { ...link, grant, createdBy: 'u1', createdAt: at } },
    ],
    [name('invite-link.changed'), { type: 'InviteLinkChanged', data: { ...link, grant, changedAt: at } }],
    [name('invite-link.deleted'), { type: 'InviteLinkDeleted', data: { ...link, deletedAt: at } }],
    [
      name('invitation.created'),
      {
        type: 'EmailInvited',
        data: { ...invitation, sealedEmail: secret, role: null, sso: false, invitedBy: 'u1', invitedAt: at },
      },
    ],
    [
      name('invitation.changed'),
      { type: 'InvitationChanged', data: { ...invitation, role: 'edit', sso: false, changedAt: at } },
    ],
    [
      name('invitation.accepted'),
      { type: 'InvitationAccepted', data: { ...invitation, userId: 'u2', acceptedAt: at } },
    ],
    [name('invitation.withdrawn'), { type: 'InvitationWithdrawn', data: { ...invitation, withdrawnAt: at } }],
  ];
};
