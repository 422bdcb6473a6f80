import Type from 'typebox';
import { MemberRole } from '../features/members.ts';
import { publicEvent } from '../kit/public-event.ts';
import { closed, DateTime, Id, nullable, words } from '../kit/schema.ts';

const organizationId = 'o9Fj3sNc7PdHa1TgK6vW';
const userId = 'u4Qm2tXz8LkVw0RyB5nE';
const invitationId = 'i2Vb8nMq5ErTy1KsZ7pD';
const reference = '2cf24dba5fb0a30e26e83b2ac5b9e29e';
const at = '2026-01-31T09:30:00.000Z';

const Reference = Type.String({
  pattern: '^[0-9a-f]{32}$',
  description: 'Stands for the link: its id lets people in, so it is in no event.',
});
const link = { organizationId: Id(), reference: Reference };
const grant = {
  role: nullable(MemberRole),
  target: words(['organization', 'space', 'collection']),
  targetId: Id(),
};

/** People can join through a link from now on. */
const inviteLinkCreated = publicEvent({
  type: 'bindery.identity.invite-link.created.v1',
  owner: 'identity',
  summary: 'An invite link was created.',
  data: closed({ ...link, ...grant, createdBy: Id(), createdAt: DateTime }),
  samples: [
    {
      organizationId,
      reference,
      role: 'edit',
      target: 'organization',
      targetId: organizationId,
      createdBy: userId,
      createdAt: at,
    },
  ],
});

/** A link gives something else from now on. */
const inviteLinkChanged = publicEvent({
  type: 'bindery.identity.invite-link.changed.v1',
  owner: 'identity',
  summary: 'An invite link gives another role or level.',
  data: closed({ ...link, ...grant, changedAt: DateTime }),
  samples: [
    { organizationId, reference, role: null, target: 'space', targetId: 's1Kd0pWq9XcVb4Nm7LzR', changedAt: at },
  ],
});

/** Nobody joins through a link any more. */
const inviteLinkDeleted = publicEvent({
  type: 'bindery.identity.invite-link.deleted.v1',
  owner: 'identity',
  summary: 'An invite link was deleted.',
  data: closed({ ...link, deletedAt: DateTime }),
  samples: [{ organizationId, reference, deletedAt: at }],
});

const invitation = { organizationId: Id(), invitationId: Id() };

/** Somebody without an account was invited by email. */
const invitationCreated = publicEvent({
  type: 'bindery.identity.invitation.created.v1',
  owner: 'identity',
  summary: 'Somebody was invited by email.',
  data: closed({ ...invitation, role: nullable(MemberRole), invitedBy: Id(), invitedAt: DateTime }),
  samples: [{ organizationId, invitationId, role: 'read', invitedBy: userId, invitedAt: at }],
});

/** An invitation that waits gives another role. */
const invitationChanged = publicEvent({
  type: 'bindery.identity.invitation.changed.v1',
  owner: 'identity',
  summary: 'An invitation by email gives another role.',
  data: closed({ ...invitation, role: nullable(MemberRole), changedAt: DateTime }),
  samples: [{ organizationId, invitationId, role: null, changedAt: at }],
});

/** Who was invited has signed in. */
const invitationAccepted = publicEvent({
  type: 'bindery.identity.invitation.accepted.v1',
  owner: 'identity',
  summary: 'Somebody who was invited by email is a member now.',
  data: closed({ ...invitation, userId: Id(), acceptedAt: DateTime }),
  samples: [{ organizationId, invitationId, userId, acceptedAt: at }],
});

/** An invitation counts no more. */
const invitationWithdrawn = publicEvent({
  type: 'bindery.identity.invitation.withdrawn.v1',
  owner: 'identity',
  summary: 'An invitation by email was withdrawn.',
  data: closed({ ...invitation, withdrawnAt: DateTime }),
  samples: [{ organizationId, invitationId, withdrawnAt: at }],
});

/** The public events of invites. */
export const inviteEvents = {
  inviteLinkCreated,
  inviteLinkChanged,
  inviteLinkDeleted,
  invitationCreated,
  invitationChanged,
  invitationAccepted,
  invitationWithdrawn,
} as const;
