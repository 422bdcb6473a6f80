import Type from 'typebox';
import { operation } from '../kit/operation.ts';
import { closed, Id, listOf, paging, words } from '../kit/schema.ts';
import { oauthScopes } from '../kit/scopes.ts';
import { limits } from '../limits.ts';
import { AccessToken, CreatedAccessToken } from './admin.ts';

/** What a token may be made with. */
const NewToken = closed({
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.token.name,
      pattern: '^[^\\u0000-\\u001F\\u007F]*$',
      description: 'What it is for.',
    }),
  ),
  expiresAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'When it stops working; never if absent. In the future.' }),
  ),
  scopes: Type.Optional(
    Type.Array(words(oauthScopes), {
      minItems: 1,
      maxItems: oauthScopes.length,
      uniqueItems: true,
      description: 'What it is limited to; absent: everything that the user may do.',
    }),
  ),
});

/** The caller's tokens. An operation beyond the reference, like the two below. */
const listTokens = operation({
  id: 'listTokensForAuthenticatedUser',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/user/tokens',
  tag: 'Users',
  summary: 'List the personal access tokens of the user',
  description: 'Newest first, without secrets.',
  access: 'authenticated',
  query: closed({ ...paging }),
  success: { 200: listOf(AccessToken) },
});

/** Makes a token for the caller. */
const createToken = operation({
  id: 'createTokenForAuthenticatedUser',
  owner: 'identity',
  surface: 'public',
  method: 'POST',
  path: '/user/tokens',
  tag: 'Users',
  secret: true,
  summary: 'Create a personal access token for the user',
  description: 'The answer is the only time the secret is shown.',
  access: 'authenticated',
  body: NewToken,
  bodyOptional: true,
  success: { 201: CreatedAccessToken },
  errors: [409],
});

/** Revokes a token of the caller. */
const deleteToken = operation({
  id: 'deleteTokenForAuthenticatedUser',
  owner: 'identity',
  surface: 'public',
  method: 'DELETE',
  path: '/user/tokens/{tokenId}',
  tag: 'Users',
  summary: 'Revoke a personal access token of the user',
  description:
    'Answers 205 when it was revoked and 204 when there was no such token. Takes effect on the next request, also for the token of this very request.',
  access: 'authenticated',
  params: closed({ tokenId: Id('Id of the token.') }),
  success: { 204: null, 205: null },
  ifMatch: true,
});

/** Personal access tokens that their owner manages. */
export const userTokenOperations = {
  listTokensForAuthenticatedUser: listTokens,
  createTokenForAuthenticatedUser: createToken,
  deleteTokenForAuthenticatedUser: deleteToken,
} as const;
