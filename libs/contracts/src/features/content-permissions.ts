import Type from 'typebox';
import { embedded } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, Id, listOf, nullable, paging } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import { collectionParams, roleFilter } from './collections.ts';
import { MemberRole } from './members.ts';
import { spaceParams } from './spaces.ts';

const optional = Type.Optional;
const subjects = () =>
  optional(Type.Array(Id(), { minItems: 1, maxItems: limits.grants.perInvite, uniqueItems: true }));

const Invite = closed({
  role: nullable(MemberRole),
  users: subjects(),
  teams: subjects(),
});
const Update = closed({ role: optional(nullable(MemberRole)) });
const UserItem = closed({ permission: MemberRole, user: embedded('user', 'User') });
const TeamItem = closed({ permission: MemberRole, team: embedded('team', 'OrganizationTeam') });

const user = { userId: Id() };
const team = { teamId: Id() };
const write = { owner: 'content', surface: 'public', scope: 'space:permissions:write' } as const;
const read = { owner: 'content', surface: 'public', method: 'GET', scope: 'space:permissions:read' } as const;
const removal = '205 = removed, 204 = it had none. What it has through others stays.';

const ofSpace = { access: 'space:admin', tag: 'Spaces' } as const;
const ofCollection = { access: 'collection:admin', tag: 'Collections' } as const;

/** Operations on who may do what in a space. */
export const spacePermissionOperations = {
  inviteToSpace: operation({
    ...write,
    ...ofSpace,
    id: 'inviteToSpace',
    method: 'POST',
    path: '/spaces/{spaceId}/permissions',
    summary: 'Give members and teams a level on a space',
    description: 'Null takes what they were given. All must be of the organization, else nobody gets anything.',
    params: closed(spaceParams),
    body: Invite,
    success: { 204: null },
  }),
  listPermissionsAggregateInSpace: operation({
    ...read,
    ...ofSpace,
    id: 'listPermissionsAggregateInSpace',
    path: '/spaces/{spaceId}/permissions/aggregate',
    summary: 'List everyone who may view a space, with their level',
    description: 'However they came by it. A page may be shorter than asked for while there are more.',
    params: closed(spaceParams),
    query: closed({ ...paging, role: optional(roleFilter) }),
    success: { 200: listOf(UserItem) },
  }),
  listTeamPermissionsInSpace: operation({
    ...read,
    ...ofSpace,
    id: 'listTeamPermissionsInSpace',
    path: '/spaces/{spaceId}/permissions/teams',
    summary: 'List the levels that teams were given on a space',
    params: closed(spaceParams),
    query: closed({ ...paging }),
    success: { 200: listOf(TeamItem) },
  }),
  updateTeamPermissionInSpace: operation({
    ...write,
    ...ofSpace,
    id: 'updateTeamPermissionInSpace',
    method: 'PATCH',
    path: '/spaces/{spaceId}/permissions/teams/{teamId}',
    summary: 'Change the level of a team on a space',
    params: closed({ ...spaceParams, ...team }),
    body: Update,
    success: { 204: null },
  }),
  removeTeamFromSpace: operation({
    ...write,
    ...ofSpace,
    id: 'removeTeamFromSpace',
    method: 'DELETE',
    path: '/spaces/{spaceId}/permissions/teams/{teamId}',
    summary: 'Take what a team was given on a space',
    description: removal,
    params: closed({ ...spaceParams, ...team }),
    success: { 205: null, 204: null },
  }),
  listUserPermissionsInSpace: operation({
    ...read,
    ...ofSpace,
    id: 'listUserPermissionsInSpace',
    path: '/spaces/{spaceId}/permissions/users',
    summary: 'List the levels that members were given on a space',
    params: closed(spaceParams),
    query: closed({ ...paging }),
    success: { 200: listOf(UserItem) },
  }),
  updateUserPermissionInSpace: operation({
    ...write,
    ...ofSpace,
    id: 'updateUserPermissionInSpace',
    method: 'PATCH',
    path: '/spaces/{spaceId}/permissions/users/{userId}',
    summary: 'Change the level of a member on a space',
    params: closed({ ...spaceParams, ...user }),
    body: Update,
    success: { 204: null },
  }),
  removeUserFromSpace: operation({
    ...write,
    ...ofSpace,
    id: 'removeUserFromSpace',
    method: 'DELETE',
    path: '/spaces/{spaceId}/permissions/users/{userId}',
    summary: 'Take what a member was given on a space',
    description: removal,
    params: closed({ ...spaceParams, ...user }),
    success: { 205: null, 204: null },
  }),
};

/** Operations on who may do what in a collection and everything inside. */
export const collectionPermissionOperations = {
  inviteToCollection: operation({
    ...write,
    ...ofCollection,
    id: 'inviteToCollection',
    method: 'POST',
    path: '/collections/{collectionId}/permissions',
    summary: 'Give members and teams a level on a collection',
    description:
      'And on everything inside. Null takes what they were given. All must be of the organization, else nobody gets anything.',
    params: closed(collectionParams),
    body: Invite,
    success: { 204: null },
  }),
  listPermissionsAggregateInCollection: operation({
    ...read,
    ...ofCollection,
    id: 'listPermissionsAggregateInCollection',
    path: '/collections/{collectionId}/permissions/aggregate',
    summary: 'List everyone who may view a collection, with their level',
    description: 'However they came by it. A page may be shorter than asked for while there are more.',
    params: closed(collectionParams),
    query: closed({ ...paging, role: optional(roleFilter) }),
    success: { 200: listOf(UserItem) },
  }),
  listTeamPermissionsInCollection: operation({
    ...read,
    ...ofCollection,
    id: 'listTeamPermissionsInCollection',
    path: '/collections/{collectionId}/permissions/teams',
    summary: 'List the levels that teams were given on a collection',
    params: closed(collectionParams),
    query: closed({ ...paging }),
    success: { 200: listOf(TeamItem) },
  }),
  updateTeamPermissionInCollection: operation({
    ...write,
    ...ofCollection,
    id: 'updateTeamPermissionInCollection',
    method: 'PATCH',
    path: '/collections/{collectionId}/permissions/teams/{teamId}',
    summary: 'Change the level of a team on a collection',
    params: closed({ ...collectionParams, ...team }),
    body: Update,
    success: { 204: null },
  }),
  removeTeamFromCollection: operation({
    ...write,
    ...ofCollection,
    id: 'removeTeamFromCollection',
    method: 'DELETE',
    path: '/collections/{collectionId}/permissions/teams/{teamId}',
    summary: 'Take what a team was given on a collection',
    description: removal,
    params: closed({ ...collectionParams, ...team }),
    success: { 205: null, 204: null },
  }),
  listUserPermissionsInCollection: operation({
    ...read,
    ...ofCollection,
    id: 'listUserPermissionsInCollection',
    path: '/collections/{collectionId}/permissions/users',
    summary: 'List the levels that members were given on a collection',
    params: closed(collectionParams),
    query: closed({ ...paging }),
    success: { 200: listOf(UserItem) },
  }),
  updateUserPermissionInCollection: operation({
    ...write,
    ...ofCollection,
    id: 'updateUserPermissionInCollection',
    method: 'PATCH',
    path: '/collections/{collectionId}/permissions/users/{userId}',
    summary: 'Change the level of a member on a collection',
    params: closed({ ...collectionParams, ...user }),
    body: Update,
    success: { 204: null },
  }),
  removeUserFromCollection: operation({
    ...write,
    ...ofCollection,
    id: 'removeUserFromCollection',
    method: 'DELETE',
    path: '/collections/{collectionId}/permissions/users/{userId}',
    summary: 'Take what a member was given on a collection',
    description: removal,
    params: closed({ ...collectionParams, ...user }),
    success: { 205: null, 204: null },
  }),
};

/** All operations on permissions in the content service. */
export const contentPermissionOperations = { ...spacePermissionOperations, ...collectionPermissionOperations };
