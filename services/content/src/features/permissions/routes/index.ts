import type {
  collectionPermissionOperations,
  contentPermissionOperations,
  spacePermissionOperations,
} from '@bindery/contracts';
import type { HandlersFor } from '@bindery/service-kit';
import type { PermissionRouteDeps } from '../deps.ts';
import { invite, remove, update } from './change.ts';
import { listAggregate, listDirect } from './list.ts';

const user = (subjectId: string) => ({ kind: 'user', subjectId }) as const;
const team = (subjectId: string) => ({ kind: 'team', subjectId }) as const;

const asUsers = <T>({ items, ...rest }: T & { items: readonly { permission: Role; subjectId: string }[] }) => ({
  ...rest,
  items: items.map(({ permission, subjectId }) => ({ permission, user: subjectId })),
});
const asTeams = <T>({ items, ...rest }: T & { items: readonly { permission: Role; subjectId: string }[] }) => ({
  ...rest,
  items: items.map(({ permission, subjectId }) => ({ permission, team: subjectId })),
});
type Role = 'admin' | 'create' | 'edit' | 'review' | 'comment' | 'read';

const ofSpaces = (deps: PermissionRouteDeps): HandlersFor<typeof spacePermissionOperations> => ({
  inviteToSpace: (context, { params, body }) => invite(deps, context, params, body),
  listPermissionsAggregateInSpace: async (context, { params, query }) => ({
    status: 200,
    body: await listAggregate(deps, context, 'listPermissionsAggregateInSpace', params, query),
  }),
  listTeamPermissionsInSpace: async (context, { params, query }) => ({
    status: 200,
    body: asTeams(await listDirect(deps, context, 'listTeamPermissionsInSpace', params, 'team', query)),
  }),
  updateTeamPermissionInSpace: (context, { params: { spaceId, teamId }, body }) =>
    update(deps, context, { spaceId }, team(teamId), body.role),
  removeTeamFromSpace: (context, { params: { spaceId, teamId } }) => remove(deps, context, { spaceId }, team(teamId)),
  listUserPermissionsInSpace: async (context, { params, query }) => ({
    status: 200,
    body: asUsers(await listDirect(deps, context, 'listUserPermissionsInSpace', params, 'user', query)),
  }),
  updateUserPermissionInSpace: (context, { params: { spaceId, userId }, body }) =>
    update(deps, context, { spaceId }, user(userId), body.role),
  removeUserFromSpace: (context, { params: { spaceId, userId } }) => remove(deps, context, { spaceId }, user(userId)),
});

const ofCollections = (deps: PermissionRouteDeps): HandlersFor<typeof collectionPermissionOperations> => ({
  inviteToCollection: (context, { params, body }) => invite(deps, context, params, body),
  listPermissionsAggregateInCollection: async (context, { params, query }) => ({
    status: 200,
    body: await listAggregate(deps, context, 'listPermissionsAggregateInCollection', params, query),
  }),
  listTeamPermissionsInCollection: async (context, { params, query }) => ({
    status: 200,
    body: asTeams(await listDirect(deps, context, 'listTeamPermissionsInCollection', params, 'team', query)),
  }),
  updateTeamPermissionInCollection: (context, { params: { collectionId, teamId }, body }) =>
    update(deps, context, { collectionId }, team(teamId), body.role),
  removeTeamFromCollection: (context, { params: { collectionId, teamId } }) =>
    remove(deps, context, { collectionId }, team(teamId)),
  listUserPermissionsInCollection: async (context, { params, query }) => ({
    status: 200,
    body: asUsers(await listDirect(deps, context, 'listUserPermissionsInCollection', params, 'user', query)),
  }),
  updateUserPermissionInCollection: (context, { params: { collectionId, userId }, body }) =>
    update(deps, context, { collectionId }, user(userId), body.role),
  removeUserFromCollection: (context, { params: { collectionId, userId } }) =>
    remove(deps, context, { collectionId }, user(userId)),
});

/** Handlers of all operations on permissions. */
export const createPermissionHandlers = (
  deps: PermissionRouteDeps,
): HandlersFor<typeof contentPermissionOperations> => ({
  ...ofSpaces(deps),
  ...ofCollections(deps),
});
