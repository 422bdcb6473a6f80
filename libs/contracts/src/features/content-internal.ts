import Type from 'typebox';
import { operation } from '../kit/operation.ts';
import { closed, Id, listOf, nullable, paging, words } from '../kit/schema.ts';
import { Collection } from './collections.ts';
import { MemberRole } from './members.ts';
import { Space } from './spaces.ts';

const internal = {
  owner: 'content',
  surface: 'internal',
  method: 'POST',
  tag: 'Internal',
  access: 'service',
} as const;
const batch = 1000;
const subject = {
  userId: Id(),
  role: nullable(MemberRole),
  teams: Type.Array(Id(), { maxItems: batch }),
};
const Count = Type.Integer({ minimum: 0 });

/** Spaces as the caller sees them, to embed them; those that it may not view, deleted ones included, are left out. */
export const loadSpaces = operation({
  ...internal,
  id: 'loadSpaces',
  reads: true,
  path: '/content/load-spaces',
  summary: 'Load spaces by id',
  body: closed({ ids: Type.Array(Id(), { maxItems: batch }) }),
  success: { 200: closed({ spaces: Type.Array(Space) }) },
});

/** Collections as the caller sees them, to embed them; those that it may not view are left out. */
export const loadCollections = operation({
  ...internal,
  id: 'loadCollections',
  reads: true,
  path: '/content/load-collections',
  summary: 'Load collections by id',
  body: closed({ ids: Type.Array(Id(), { maxItems: batch }) }),
  success: { 200: closed({ collections: Type.Array(Collection) }) },
});

/**
 * The spaces that a member may view, with its level. The caller must be that member or an administrator of the
 * organization (403 otherwise), so that it may view all of them.
 */
export const listSpacesOfMember = operation({
  ...internal,
  id: 'listSpacesOfMember',
  reads: true,
  path: '/content/list-spaces-of-member',
  summary: 'List the spaces that a member may view',
  body: closed({
    organizationId: Id(),
    ...subject,
    ...paging,
    order: Type.Optional(words(['asc', 'desc'], { default: 'desc' })),
  }),
  success: { 200: listOf(closed({ permission: MemberRole, space: Space })) },
});

/** How many spaces members may view, in the order given. */
export const countSpacesOfMembers = operation({
  ...internal,
  id: 'countSpacesOfMembers',
  reads: true,
  path: '/content/count-spaces-of-members',
  summary: 'Count the spaces that members may view',
  body: closed({ organizationId: Id(), members: Type.Array(closed(subject), { maxItems: batch }) }),
  success: { 200: closed({ counts: Type.Array(Count) }) },
});

/** How many spaces grants of teams reach, in the order given. */
export const countSpacesOfTeams = operation({
  ...internal,
  id: 'countSpacesOfTeams',
  reads: true,
  path: '/content/count-spaces-of-teams',
  summary: 'Count the spaces that teams were given',
  body: closed({ organizationId: Id(), teams: Type.Array(Id(), { maxItems: batch }) }),
  success: { 200: closed({ counts: Type.Array(Count) }) },
});

/**
 * Gives a member a level on a space or collection of the organization, when it has no higher one there already: what an
 * invite link brings. Whether it may is the business of the caller. 404 when the organization has no such content.
 */
export const grantContentAccess = operation({
  ...internal,
  id: 'grantContentAccess',
  path: '/content/grant-access',
  summary: 'Give a member a level on content',
  body: closed({
    organizationId: Id(),
    space: Type.Optional(Id()),
    collection: Type.Optional(Id()),
    userId: Id(),
    level: nullable(MemberRole),
  }),
  success: { 204: null },
});

/** Operations that only our own services call. */
export const contentInternalOperations = {
  loadSpaces,
  loadCollections,
  listSpacesOfMember,
  countSpacesOfMembers,
  countSpacesOfTeams,
  grantContentAccess,
};
