import Type from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, Id, Uri, visibleLine, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';

/** One line of text that people read: no control characters (own rule; the reference gives only the length). */
export const DisplayName = Type.String({
  minLength: limits.user.displayName.min,
  maxLength: limits.user.displayName.max,
  pattern: visibleLine(),
  description: 'Name shown to other people.',
});

/** Address of a picture; only web addresses, so that no client can be made to open anything else. */
export const PhotoUrl = Type.String({
  format: 'uri',
  maxLength: limits.url.maxLength,
  pattern: '^https?://',
  description: 'Web address of a picture.',
});

/** A person (reference: User; resources section 1). */
export const User = component(
  'User',
  closed(
    {
      object: words(['user']),
      id: Id(),
      displayName: Type.String({ description: 'Name shown to other people.' }),
      email: Type.Optional(Type.String({ description: 'Address the account is known by.' })),
      photoURL: Type.Optional(Type.String({ description: 'Web address of a picture.' })),
      urls: closed({ location: Uri }),
    },
    { description: 'A person who uses the instance.' },
  ),
);

const UserParams = closed({ userId: Id('Id of the user.') });

/** The caller itself. */
export const getAuthenticatedUser = operation({
  id: 'getAuthenticatedUser',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/user',
  tag: 'Users',
  summary: 'Get the user who is calling',
  access: 'authenticated',
  scope: 'user:read',
  success: { 200: User },
  errors: [404],
  etag: true,
});

/** Another user, when the caller shares an organization with it. */
export const getUserById = operation({
  id: 'getUserById',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/users/{userId}',
  tag: 'Users',
  summary: 'Get a user',
  description:
    'A user is visible to itself, to everybody who shares an organization with it, and to instance administrators.',
  access: 'authenticated',
  params: UserParams,
  success: { 200: User },
  etag: true,
});

/** Changes name and picture. */
export const updateUserById = operation({
  id: 'updateUserById',
  owner: 'identity',
  surface: 'public',
  method: 'PATCH',
  path: '/users/{userId}',
  tag: 'Users',
  summary: 'Change a user',
  description: 'Users change themselves; instance administrators change anybody. Absent fields stay as they are.',
  access: 'self',
  params: UserParams,
  body: closed({ displayName: Type.Optional(DisplayName), photoURL: Type.Optional(PhotoUrl) }),
  success: { 200: User },
  etag: true,
});

/** Operations on users that the reference has. */
export const userOperations = { getAuthenticatedUser, getUserById, updateUserById } as const;
