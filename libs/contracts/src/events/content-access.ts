import Type from 'typebox';
import { MemberRole } from '../features/members.ts';
import { publicEvent } from '../kit/public-event.ts';
import { closed, DateTime, Id, nullable, words } from '../kit/schema.ts';

// Titles and descriptions are private: consumers read them through the API, as somebody who may.

const organizationId = 'o9Fj3sNc7PdHa1TgK6vW';
const other = 'o2Bn6gWs0EoLi5VcM9pT';
const collectionId = 'c7Rm2tUq8JhDf4YaZ7rK';
const parent = 'c1Xk1dHv4AuXj7CzN2qF';
const spaceId = 's1pQz7LkVw0RyB5nEt8X';
const user = 'u4Qm2tXz8LkVw0RyB5nE';
const at = '2026-01-31T09:30:00.000Z';

const inOrganization = { organizationId: Id(), collectionId: Id() };
const collection = { organizationId, collectionId };

const collectionCreated = publicEvent({
  type: 'bindery.content.collection.created.v1',
  owner: 'content',
  summary: 'A collection was created.',
  data: closed({ ...inOrganization, parent: nullable(Id()), createdBy: Id(), createdAt: DateTime }),
  samples: [{ ...collection, parent: null, createdBy: user, createdAt: at }],
});

const collectionChanged = publicEvent({
  type: 'bindery.content.collection.changed.v1',
  owner: 'content',
  summary: 'Title, description or default level of a collection changed.',
  description: 'A change of `defaultLevel` changes what members may do in everything inside.',
  data: closed({
    ...inOrganization,
    fields: Type.Array(words(['title', 'description', 'defaultLevel'])),
    changedBy: Id(),
    changedAt: DateTime,
  }),
  samples: [{ ...collection, fields: ['defaultLevel'], changedBy: user, changedAt: at }],
});

const collectionMoved = publicEvent({
  type: 'bindery.content.collection.moved.v1',
  owner: 'content',
  summary: 'A collection has another parent, or another place among its siblings.',
  data: closed({ ...inOrganization, parent: nullable(Id()), movedBy: Id(), movedAt: DateTime }),
  samples: [{ ...collection, parent, movedBy: user, movedAt: at }],
});

const collectionDeleted = publicEvent({
  type: 'bindery.content.collection.deleted.v1',
  owner: 'content',
  summary: 'A collection was deleted, and the collections inside with it.',
  description: '`collections` names all of them. The spaces inside have events of their own.',
  data: closed({ ...inOrganization, collections: Type.Array(Id()), deletedBy: Id(), deletedAt: DateTime }),
  samples: [{ ...collection, collections: [collectionId], deletedBy: user, deletedAt: at }],
});

const collectionTransferred = publicEvent({
  type: 'bindery.content.collection.transferred.v1',
  owner: 'content',
  summary: 'Collections have gone to another organization.',
  description:
    'Said for the organization that they were of, when all of it is there. The spaces inside have events of their own.',
  data: closed({
    organizationId: Id(),
    to: Id(),
    collections: Type.Array(Id()),
    transferredBy: Id(),
    transferredAt: DateTime,
  }),
  samples: [{ organizationId, to: other, collections: [collectionId], transferredBy: user, transferredAt: at }],
});

const spaceMoved = publicEvent({
  type: 'bindery.content.space.moved.v1',
  owner: 'content',
  summary: 'A space has another parent, or another place among its siblings.',
  data: closed({ organizationId: Id(), spaceId: Id(), parent: nullable(Id()), movedBy: Id(), movedAt: DateTime }),
  samples: [{ organizationId, spaceId, parent: collectionId, movedBy: user, movedAt: at }],
});

const spaceTransferred = publicEvent({
  type: 'bindery.content.space.transferred.v1',
  owner: 'content',
  summary: 'A space has gone to another organization.',
  description: '`organizationId` is where it is now.',
  data: closed({
    organizationId: Id(),
    from: Id(),
    spaceId: Id(),
    parent: nullable(Id()),
    transferredBy: Id(),
    transferredAt: DateTime,
  }),
  samples: [
    { organizationId: other, from: organizationId, spaceId, parent: null, transferredBy: user, transferredAt: at },
  ],
});

const about = {
  organizationId: Id(),
  resource: words(['space', 'collection']),
  resourceId: Id(),
  subject: words(['user', 'team']),
  subjectId: Id(),
};
const grant = { organizationId, resource: 'space', resourceId: spaceId, subject: 'user', subjectId: user };

const accessGranted = publicEvent({
  type: 'bindery.content.access.granted.v1',
  owner: 'content',
  summary: 'A member or a team was given a level on a space or a collection.',
  data: closed({
    ...about,
    level: MemberRole,
    previousLevel: nullable(MemberRole),
    grantedBy: Id(),
    grantedAt: DateTime,
  }),
  samples: [{ ...grant, level: 'edit', previousLevel: null, grantedBy: user, grantedAt: at }],
});

const accessRevoked = publicEvent({
  type: 'bindery.content.access.revoked.v1',
  owner: 'content',
  summary: 'A member or a team has no level of its own on a space or a collection any more.',
  data: closed({
    ...about,
    previousLevel: MemberRole,
    reason: words(['removed', 'member-removed', 'team-deleted', 'transferred', 'content-deleted']),
    revokedAt: DateTime,
  }),
  samples: [{ ...grant, previousLevel: 'edit', reason: 'removed', revokedAt: at }],
});

/** What the content service tells about collections and access. */
export const contentAccessEvents = {
  collectionCreated,
  collectionChanged,
  collectionMoved,
  collectionDeleted,
  collectionTransferred,
  spaceMoved,
  spaceTransferred,
  accessGranted,
  accessRevoked,
};
