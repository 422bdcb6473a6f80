import Type from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, listOf, nullable, paging, words } from '../kit/schema.ts';
import { PrincipalSchema } from './identity-internal.ts';

/** How somebody signed in: with a password, a one-time link, the OpenID provider of the instance, or SAML of an organization. */
export const sessionMethods = ['password', 'link', 'oidc', 'saml'] as const;
export type SessionMethod = (typeof sessionMethods)[number];

/** Why a session ended before its time. */
export const sessionEndings = [
  'signed-out',
  'revoked',
  'password-changed',
  'removed',
  'superseded',
  'expired',
] as const;
export type SessionEnding = (typeof sessionEndings)[number];

/** A session of the caller, without its secret. */
export const Session = component(
  'Session',
  closed(
    {
      id: Id(),
      method: words(sessionMethods, { description: 'How it began.' }),
      createdAt: DateTime,
      expiresAt: Type.String({ format: 'date-time', description: 'When it ends, however much it is used.' }),
      lastUsedAt: Type.Optional(DateTime),
      address: Type.Optional(Type.String({ description: 'Network address that it began from.' })),
      userAgent: Type.Optional(Type.String({ description: 'Browser that it began in, as it calls itself.' })),
      current: Type.Boolean({ description: 'The session of this very request.' }),
    },
    { description: 'A signed-in browser. `lastUsedAt` is recorded at most once a minute.' },
  ),
);

/** Turns the hash of the secret in a session cookie into a principal. */
export const resolveSession = operation({
  id: 'resolveSession',
  reads: true,
  owner: 'identity',
  surface: 'internal',
  method: 'POST',
  path: '/identity/resolve-session',
  tag: 'Internal',
  summary: 'Who does this session belong to?',
  access: 'service',
  body: closed({
    sessionHash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 in lower-case hex.' }),
    address: Type.Optional(Type.String({ maxLength: 64, description: 'Where the request comes from.' })),
  }),
  success: { 200: closed({ principal: nullable(PrincipalSchema) }) },
});

/** The caller's sessions. An operation beyond the reference. */
export const listUserSessions = operation({
  id: 'listSessionsForAuthenticatedUser',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/user/sessions',
  tag: 'Users',
  summary: 'List the browsers in which the user is signed in',
  description: 'Newest first.',
  access: 'authenticated',
  query: closed({ ...paging }),
  success: { 200: listOf(Session) },
});

/** Ends one of the caller's sessions. An operation beyond the reference. */
export const deleteUserSession = operation({
  id: 'deleteSessionForAuthenticatedUser',
  owner: 'identity',
  surface: 'public',
  method: 'DELETE',
  path: '/user/sessions/{sessionId}',
  tag: 'Users',
  summary: 'End a session of the user',
  description:
    'Answers 205 when it was ended and 204 when there was no such session. Takes effect on the next request.',
  access: 'authenticated',
  params: closed({ sessionId: Id('Id of the session.') }),
  success: { 204: null, 205: null },
});

/** Sessions of signed-in browsers. */
export const sessionOperations = {
  resolveSession,
  listSessionsForAuthenticatedUser: listUserSessions,
  deleteSessionForAuthenticatedUser: deleteUserSession,
} as const;
