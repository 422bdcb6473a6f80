import Type from 'typebox';
import { TeamMemberRole } from '../features/teams.ts';
import { publicEvent } from '../kit/public-event.ts';
import { closed, DateTime, Id } from '../kit/schema.ts';

const id = 't7Wm4cRb1NqXs9ZkE2pY';
const organizationId = 'o9Fj3sNc7PdHa1TgK6vW';
const userId = 'u4Qm2tXz8LkVw0RyB5nE';
const at = '2026-01-31T09:30:00.000Z';
const team = { organizationId: Id(), teamId: Id() };
const sample = { organizationId, teamId: id };

/** A team exists. */
const teamCreated = publicEvent({
  type: 'bindery.identity.team.created.v1',
  owner: 'identity',
  summary: 'A team was created.',
  data: closed({ ...team, title: Type.String(), createdBy: Id(), createdAt: DateTime }),
  samples: [{ ...sample, title: 'Writers', createdBy: userId, createdAt: at }],
});

/** A team has another title. */
const teamRenamed = publicEvent({
  type: 'bindery.identity.team.renamed.v1',
  owner: 'identity',
  summary: 'A team was renamed.',
  data: closed({ ...team, title: Type.String(), renamedAt: DateTime }),
  samples: [{ ...sample, title: 'Editors', renamedAt: at }],
});

const members = Type.Array(closed({ userId: Id(), role: TeamMemberRole }));

/** Users are in a team from now on, and have what it was granted. */
const teamMembersAdded = publicEvent({
  type: 'bindery.identity.team.members-added.v1',
  owner: 'identity',
  summary: 'Users were added to a team.',
  data: closed({ ...team, members, addedAt: DateTime }),
  samples: [{ ...sample, members: [{ userId, role: 'member' }], addedAt: at }],
});

/** Users may manage a team, or may not any more. */
const teamMemberRolesChanged = publicEvent({
  type: 'bindery.identity.team.member-roles-changed.v1',
  owner: 'identity',
  summary: 'Users have another role in a team.',
  data: closed({ ...team, members, changedAt: DateTime }),
  samples: [{ ...sample, members: [{ userId, role: 'owner' }], changedAt: at }],
});

/** Users have nothing from a team any more. */
const teamMembersRemoved = publicEvent({
  type: 'bindery.identity.team.members-removed.v1',
  owner: 'identity',
  summary: 'Users were removed from a team.',
  data: closed({ ...team, userIds: Type.Array(Id()), removedAt: DateTime }),
  samples: [{ ...sample, userIds: [userId], removedAt: at }],
});

/** A team is gone; whatever it was granted grants nothing. */
const teamDeleted = publicEvent({
  type: 'bindery.identity.team.deleted.v1',
  owner: 'identity',
  summary: 'A team was deleted.',
  data: closed({ ...team, deletedAt: DateTime }),
  samples: [{ ...sample, deletedAt: at }],
});

/** The public events of teams. */
export const teamEvents = {
  teamCreated,
  teamRenamed,
  teamMembersAdded,
  teamMemberRolesChanged,
  teamMembersRemoved,
  teamDeleted,
} as const;
