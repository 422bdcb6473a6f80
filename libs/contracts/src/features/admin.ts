import Type from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, listOf, nullable, paging, words } from '../kit/schema.ts';
import { oauthScopes } from '../kit/scopes.ts';
import { limits } from '../limits.ts';
import { Member, MemberRole } from './members.ts';
import { DisplayName, PhotoUrl, User } from './users.ts';

const UserParams = closed({ userId: Id('Id of the user.') });
const line = '^[^\\u0000-\\u001F\\u007F]*$';

/** A personal access token without its secret. */
const tokenFields = {
  id: Id(),
  name: Type.String(),
  createdAt: DateTime,
  expiresAt: Type.Optional(DateTime),
  scopes: Type.Optional(
    Type.Array(words(oauthScopes), { description: 'What it is limited to; absent: everything that the user may do.' }),
  ),
};

/** What a list shows of a token; the secret is shown once, when it is made. */
export const AccessToken = component(
  'AccessToken',
  closed(
    { ...tokenFields, lastUsedAt: Type.Optional(DateTime) },
    { description: 'A personal access token. `lastUsedAt` is recorded at most once a minute.' },
  ),
);

/** A token just made, with its secret. */
export const CreatedAccessToken = component(
  'CreatedAccessToken',
  closed(
    { ...tokenFields, token: Type.String({ description: 'The secret. It is not stored and cannot be shown again.' }) },
    { description: 'A new personal access token.' },
  ),
);

/** Creates a user. */
export const createUser = operation({
  id: 'createUser',
  owner: 'identity',
  surface: 'admin',
  method: 'POST',
  path: '/users',
  tag: 'Administration',
  summary: 'Create a user',
  description: 'An email belongs to one user; it is compared without regard to case.',
  access: 'instance-admin',
  body: closed({
    email: Type.String({ format: 'email', maxLength: limits.user.email, description: 'Unique on the instance.' }),
    displayName: DisplayName,
    photoURL: Type.Optional(PhotoUrl),
  }),
  success: { 201: User },
  errors: [409],
  location: true,
  etag: true,
});

/** Lists all users. */
export const listUsers = operation({
  id: 'listUsers',
  owner: 'identity',
  surface: 'admin',
  method: 'GET',
  path: '/users',
  tag: 'Administration',
  summary: 'List the users of the instance',
  description: 'Oldest first.',
  access: 'instance-admin',
  query: closed({
    ...paging,
    search: Type.Optional(
      Type.String({ maxLength: 512, description: 'Part of the display name or the email, case and accents aside.' }),
    ),
  }),
  success: { 200: listOf(User) },
});

/** Makes a personal access token for a user. */
export const createUserToken = operation({
  id: 'createUserToken',
  owner: 'identity',
  surface: 'admin',
  method: 'POST',
  path: '/users/{userId}/tokens',
  tag: 'Administration',
  secret: true,
  summary: 'Create a personal access token for a user',
  description: 'The answer is the only time the secret is shown.',
  access: 'instance-admin',
  params: UserParams,
  body: closed({
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: limits.token.name, pattern: line, description: 'What it is for.' }),
    ),
    expiresAt: Type.Optional(
      Type.String({ format: 'date-time', description: 'When it stops working; never if absent. In the future.' }),
    ),
  }),
  bodyOptional: true,
  success: { 201: CreatedAccessToken },
  errors: [409],
});

/** Lists the tokens of a user. */
export const listUserTokens = operation({
  id: 'listUserTokens',
  owner: 'identity',
  surface: 'admin',
  method: 'GET',
  path: '/users/{userId}/tokens',
  tag: 'Administration',
  summary: 'List the personal access tokens of a user',
  description: 'Newest first, without secrets.',
  access: 'instance-admin',
  params: UserParams,
  query: closed({ ...paging }),
  success: { 200: listOf(AccessToken) },
});

/** Revokes a token. */
export const deleteUserToken = operation({
  id: 'deleteUserToken',
  owner: 'identity',
  surface: 'admin',
  method: 'DELETE',
  path: '/users/{userId}/tokens/{tokenId}',
  tag: 'Administration',
  summary: 'Revoke a personal access token',
  description:
    'Answers 205 when it was revoked and 204 when there was no such token. Takes effect on the next request.',
  access: 'instance-admin',
  params: closed({ userId: Id('Id of the user.'), tokenId: Id('Id of the token.') }),
  success: { 204: null, 205: null },
  ifMatch: true,
});

/** Adds a user to an organization, or changes its role there. */
export const putOrganizationMember = operation({
  id: 'putOrganizationMember',
  owner: 'identity',
  surface: 'admin',
  method: 'PUT',
  path: '/orgs/{organizationId}/members/{userId}',
  tag: 'Administration',
  summary: 'Add a user to an organization or change its role',
  description: 'A null role makes it a guest. Takes effect on the next request of that user.',
  access: 'instance-admin',
  params: closed({ organizationId: Id('Id of the organization.'), userId: Id('Id of the user.') }),
  body: closed({ role: nullable(MemberRole) }),
  success: { 200: Member },
  errors: [409],
  etag: true,
});

/** Operations of /admin/v1 that identity owns. */
export const identityAdminOperations = {
  createUser,
  listUsers,
  createUserToken,
  listUserTokens,
  deleteUserToken,
  putOrganizationMember,
} as const;
