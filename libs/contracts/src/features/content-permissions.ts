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

// What an operation is on spaces and on collections alike: they are permitted in one way.
const invitation = { ...write, method: 'POST', body: Invite, success: { 204: null } } as const;
const aggregate = {
  ...read,
  description: 'However they came by it. A page may be shorter than asked for while there are more.',
  query: closed({ ...paging, role: optional(roleFilter) }),
  success: { 200: listOf(UserItem) },
} as const;
const teamLevels = { ...read, query: closed({ ...paging }), success: { 200: listOf(TeamItem) } } as const;
const userLevels = { ...read, query: closed({ ...paging }), success: { 200: listOf(UserItem) } } as const;
const change = { ...write, method: 'PATCH', body: Update, success: { 204: null } } as const;
const removal = {
  ...write,
  method: 'DELETE',
  description: '205 = removed, 204 = it had none. What it has through others stays.',
  success: { 205: null, 204: null },
} as const;

const ofSpace = { access: 'space:admin', tag: 'Spaces' } as const;
const ofCollection = { access: 'collection:admin', tag: 'Collections' } as const;

/** Operations on who may do what in a space. */
export const spacePermissionOperations = {
  inviteToSpace: operation({
    ...invitation,
    ...ofSpace,
    id: 'inviteToSpace',
    path: '/spaces/{spaceId}/permissions',
    summary: 'Give members and teams a level on a space',
    description: 'Null takes what they were given. All must be of the organization, else nobody gets anything.',
    params: closed(spaceParams),
  }),
  listPermissionsAggregateInSpace: operation({
    ...aggregate,
    ...ofSpace,
    id: 'listPermissionsAggregateInSpace',
    path: '/spaces/{spaceId}/permissions/aggregate',
    summary: 'List everyone who may view a space, with their level',
    params: closed(spaceParams),
  }),
  listTeamPermissionsInSpace: operation({
    ...teamLevels,
    ...ofSpace,
    id: 'listTeamPermissionsInSpace',
    path: '/spaces/{spaceId}/permissions/teams',
    summary: 'List the levels that teams were given on a space',
    params: closed(spaceParams),
  }),
  updateTeamPermissionInSpace: operation({
    ...change,
    ...ofSpace,
    id: 'updateTeamPermissionInSpace',
    path: '/spaces/{spaceId}/permissions/teams/{teamId}',
    summary: 'Change the level of a team on a space',
    params: closed({ ...spaceParams, ...team }),
  }),
  removeTeamFromSpace: operation({
    ...removal,
    ...ofSpace,
    id: 'removeTeamFromSpace',
    path: '/spaces/{spaceId}/permissions/teams/{teamId}',
    summary: 'Take what a team was given on a space',
    params: closed({ ...spaceParams, ...team }),
  }),
  listUserPermissionsInSpace: operation({
    ...userLevels,
    ...ofSpace,
    id: 'listUserPermissionsInSpace',
    path: '/spaces/{spaceId}/permissions/users',
    summary: 'List the levels that members were given on a space',
    params: closed(spaceParams),
  }),
  updateUserPermissionInSpace: operation({
    ...change,
    ...ofSpace,
    id: 'updateUserPermissionInSpace',
    path: '/spaces/{spaceId}/permissions/users/{userId}',
    summary: 'Change the level of a member on a space',
    params: closed({ ...spaceParams, ...user }),
  }),
  removeUserFromSpace: operation({
    ...removal,
    ...ofSpace,
    id: 'removeUserFromSpace',
    path: '/spaces/{spaceId}/permissions/users/{userId}',
    summary: 'Take what a member was given on a space',
    params: closed({ ...spaceParams, ...user }),
  }),
};

/** Operations on who may do what in a collection and everything inside. */
export const collectionPermissionOperations = {
  inviteToCollection: operation({
    ...invitation,
    ...ofCollection,
    id: 'inviteToCollection',
    path: '/collections/{collectionId}/permissions',
    summary: 'Give members and teams a level on a collection',
    description:
      'And on everything inside. Null takes what they were given. All must be of the organization, else nobody gets anything.',
    params: closed(collectionParams),
  }),
  listPermissionsAggregateInCollection: operation({
    ...aggregate,
    ...ofCollection,
    id: 'listPermissionsAggregateInCollection',
    path: '/collections/{collectionId}/permissions/aggregate',
    summary: 'List everyone who may view a collection, with their level',
    params: closed(collectionParams),
  }),
  listTeamPermissionsInCollection: operation({
    ...teamLevels,
    ...ofCollection,
    id: 'listTeamPermissionsInCollection',
    path: '/collections/{collectionId}/permissions/teams',
    summary: 'List the levels that teams were given on a collection',
    params: closed(collectionParams),
  }),
  updateTeamPermissionInCollection: operation({
    ...change,
    ...ofCollection,
    id: 'updateTeamPermissionInCollection',
    path: '/collections/{collectionId}/permissions/teams/{teamId}',
    summary: 'Change the level of a team on a collection',
    params: closed({ ...collectionParams, ...team }),
  }),
  removeTeamFromCollection: operation({
    ...removal,
    ...ofCollection,
    id: 'removeTeamFromCollection',
    path: '/collections/{collectionId}/permissions/teams/{teamId}',
    summary: 'Take what a team was given on a collection',
    params: closed({ ...collectionParams, ...team }),
  }),
  listUserPermissionsInCollection: operation({
    ...userLevels,
    ...ofCollection,
    id: 'listUserPermissionsInCollection',
    path: '/collections/{collectionId}/permissions/users',
    summary: 'List the levels that members were given on a collection',
    params: closed(collectionParams),
  }),
  updateUserPermissionInCollection: operation({
    ...change,
    ...ofCollection,
    id: 'updateUserPermissionInCollection',
    path: '/collections/{collectionId}/permissions/users/{userId}',
    summary: 'Change the level of a member on a collection',
    params: closed({ ...collectionParams, ...user }),
  }),
  removeUserFromCollection: operation({
    ...removal,
    ...ofCollection,
    id: 'removeUserFromCollection',
    path: '/collections/{collectionId}/permissions/users/{userId}',
    summary: 'Take what a member was given on a collection',
    params: closed({ ...collectionParams, ...user }),
  }),
};

/** All operations on permissions in the content service. */
export const contentPermissionOperations = { ...spacePermissionOperations, ...collectionPermissionOperations };
