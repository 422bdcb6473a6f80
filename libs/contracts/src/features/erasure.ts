import Type from 'typebox';
import { operation } from '../kit/operation.ts';
import { closed, Id } from '../kit/schema.ts';
import { limits } from '../limits.ts';

/** Deletes the caller. */
export const deleteAuthenticatedUser = operation({
  id: 'deleteAuthenticatedUser',
  owner: 'identity',
  surface: 'public',
  method: 'DELETE',
  path: '/user',
  tag: 'Users',
  summary: 'Delete the account of the caller',
  description:
    'Ends sessions, tokens and memberships and erases name, email, picture and addresses for good; what the person wrote stays, by a neutral name. Refused (409) while it is the last administrator of an organization.',
  access: 'self',
  body: closed({
    confirmation: Type.String({
      minLength: 1,
      maxLength: limits.user.email,
      description: 'The email of the account, so that nobody deletes itself by accident.',
    }),
  }),
  success: { 204: null },
  errors: [409],
  erasesUser: true,
});

/** Deletes somebody. */
export const deleteUser = operation({
  id: 'deleteUser',
  owner: 'identity',
  surface: 'admin',
  method: 'DELETE',
  path: '/users/{userId}',
  tag: 'Administration',
  summary: 'Delete a user and erase its personal data',
  description: 'Like DELETE /v1/user, for an administrator of the instance. Repeating it is harmless.',
  access: 'instance-admin',
  params: closed({ userId: Id('Id of the user.') }),
  success: { 204: null },
  errors: [409],
  erasesUser: true,
});

/** Operations that erase people. */
export const erasureOperations = { deleteAuthenticatedUser, deleteUser } as const;
