import Type from 'typebox';
import { MemberRole } from '../features/members.ts';
import { publicEvent } from '../kit/public-event.ts';
import { closed, DateTime, Id, nullable } from '../kit/schema.ts';

const id = 'u4Qm2tXz8LkVw0RyB5nE';
const other = 'o9Fj3sNc7PdHa1TgK6vW';
const at = '2026-01-31T09:30:00.000Z';

/** A user exists. Names and addresses are read through the API, by those who may. */
const userCreated = publicEvent({
  type: 'bindery.identity.user.created.v1',
  owner: 'identity',
  summary: 'A user was created.',
  data: closed({ userId: Id(), createdAt: DateTime }),
  samples: [{ userId: id, createdAt: at }],
});

/** What a user shows of itself is different now. */
const userUpdated = publicEvent({
  type: 'bindery.identity.user.updated.v1',
  owner: 'identity',
  summary: 'The name or the picture of a user changed.',
  data: closed({ userId: Id(), updatedAt: DateTime }),
  samples: [{ userId: id, updatedAt: at }],
});

/** An organization exists; its creator follows as the first member. */
const organizationCreated = publicEvent({
  type: 'bindery.identity.organization.created.v1',
  owner: 'identity',
  summary: 'An organization was created.',
  data: closed({ organizationId: Id(), title: Type.String(), createdBy: Id(), createdAt: DateTime }),
  samples: [{ organizationId: other, title: 'Example', createdBy: id, createdAt: at }],
});

/** A user belongs to an organization now; role null is a guest. */
const memberJoined = publicEvent({
  type: 'bindery.identity.member.joined.v1',
  owner: 'identity',
  summary: 'A user joined an organization.',
  data: closed({ organizationId: Id(), userId: Id(), role: nullable(MemberRole), joinedAt: DateTime }),
  samples: [
    { organizationId: other, userId: id, role: 'edit', joinedAt: at },
    { organizationId: other, userId: id, role: null, joinedAt: at },
  ],
});

/** A member may do more or less than before. */
const memberRoleChanged = publicEvent({
  type: 'bindery.identity.member.role-changed.v1',
  owner: 'identity',
  summary: 'The role of a member changed.',
  data: closed({
    organizationId: Id(),
    userId: Id(),
    role: nullable(MemberRole),
    previousRole: nullable(MemberRole),
    changedAt: DateTime,
  }),
  samples: [{ organizationId: other, userId: id, role: 'admin', previousRole: 'edit', changedAt: at }],
});

/** A personal access token works from now on. Neither the secret nor its hash leaves the service. */
const tokenCreated = publicEvent({
  type: 'bindery.identity.token.created.v1',
  owner: 'identity',
  summary: 'A personal access token was created.',
  data: closed({ userId: Id(), tokenId: Id(), createdAt: DateTime }),
  samples: [{ userId: id, tokenId: other, createdAt: at }],
});

/** A personal access token does not work any more. */
const tokenRevoked = publicEvent({
  type: 'bindery.identity.token.revoked.v1',
  owner: 'identity',
  summary: 'A personal access token was revoked.',
  data: closed({ userId: Id(), tokenId: Id(), revokedAt: DateTime }),
  samples: [{ userId: id, tokenId: other, revokedAt: at }],
});

/** The public events of identity. */
export const identityEvents = {
  userCreated,
  userUpdated,
  organizationCreated,
  memberJoined,
  memberRoleChanged,
  tokenCreated,
  tokenRevoked,
} as const;
