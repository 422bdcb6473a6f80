import Type from 'typebox';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, Uri } from '../kit/schema.ts';
import { limits } from '../limits.ts';

/** Who is at the other end, for limits and for the list of sessions. */
const client = {
  address: Type.String({ maxLength: 64, description: 'Network address of the browser.' }),
  userAgent: Type.Optional(Type.String({ maxLength: 2048, description: 'What the browser calls itself.' })),
};

/** Anything longer is refused before it is hashed. */
const Password = Type.String({ maxLength: limits.password.maxLength });
const Email = Type.String({ maxLength: 1024 });

/** `Set-Cookie` header values for the browser. */
const Cookies = closed({ cookies: Type.Array(Type.String()) });

const internal = {
  owner: 'identity',
  surface: 'internal',
  method: 'POST',
  tag: 'Internal',
  access: 'service',
} as const;

/** Signs somebody in with email and password. The same answer, and the same work, whether the account exists or not. */
const signInWithPassword = operation({
  ...internal,
  id: 'signInWithPassword',
  path: '/identity/sign-in-with-password',
  summary: 'Sign in with email and password',
  body: closed({
    email: Email,
    password: Password,
    device: Type.Optional(
      Type.String({ maxLength: 1024, description: 'What an earlier sign-in left in the browser.' }),
    ),
    ...client,
  }),
  success: { 200: Cookies },
});

/** Sends a one-time link to an email, if somebody has it. The answer does not tell. */
const requestSignInLink = operation({
  ...internal,
  id: 'requestSignInLink',
  path: '/identity/request-sign-in-link',
  summary: 'Send a one-time sign-in link by mail',
  body: closed({ email: Email, address: client.address }),
  success: { 204: null },
});

/** Signs somebody in with a one-time link, and sets a password when one is given. */
const useSignInLink = operation({
  ...internal,
  id: 'useSignInLink',
  path: '/identity/use-sign-in-link',
  summary: 'Sign in with a one-time link',
  body: closed({ link: Type.String({ maxLength: 256 }), password: Type.Optional(Password), ...client }),
  success: { 200: Cookies },
});

/** Changes the password of the caller. Ends all sessions, and begins a new one. */
const changePassword = operation({
  ...internal,
  id: 'changePassword',
  path: '/identity/change-password',
  summary: 'Change the password of the caller',
  body: closed({ currentPassword: Password, newPassword: Password, ...client }),
  success: { 200: Cookies },
});

/** What the sign-in and the account page offer. */
const getSignInOptions = operation({
  ...internal,
  id: 'getSignInOptions',
  path: '/identity/sign-in-options',
  summary: 'How can people sign in?',
  success: {
    200: closed({
      mail: Type.Boolean({ description: 'One-time links can be sent by mail.' }),
      oidc: Type.Boolean({ description: 'There is an OpenID provider.' }),
      password: Type.Boolean({ description: 'The caller has a password.' }),
    }),
  },
});

/** Begins signing in through the OpenID provider of the instance. */
const beginOidcSignIn = operation({
  ...internal,
  id: 'beginOidcSignIn',
  path: '/identity/begin-oidc-sign-in',
  summary: 'Begin signing in through the OpenID provider',
  body: closed({ returnTo: Type.Optional(Type.String({ maxLength: 2048 })), address: client.address }),
  success: { 200: closed({ url: Uri, cookies: Type.Array(Type.String()) }) },
});

/** Ends signing in through the OpenID provider: what it answered, and what the browser was given at the beginning. */
const finishOidcSignIn = operation({
  ...internal,
  id: 'finishOidcSignIn',
  path: '/identity/finish-oidc-sign-in',
  summary: 'End signing in through the OpenID provider',
  body: closed({ query: Type.String({ maxLength: 8192 }), flow: Type.String({ maxLength: 4096 }), ...client }),
  success: { 200: closed({ cookies: Type.Array(Type.String()), returnTo: Type.String() }) },
});

/** Makes a one-time link for a user: an invitation, or a way in for somebody who forgot the password, also without mail. */
const createUserSignInLink = operation({
  id: 'createUserSignInLink',
  owner: 'identity',
  surface: 'admin',
  method: 'POST',
  path: '/users/{userId}/sign-in-links',
  tag: 'Administration',
  secret: true,
  summary: 'Create a one-time sign-in link for a user',
  description: 'Whoever opens it is signed in as that user and may choose a password. It works once, until it expires.',
  access: 'instance-admin',
  params: closed({ userId: Id('Id of the user.') }),
  success: { 201: closed({ url: Uri, expiresAt: DateTime }) },
});

/** Operations behind the sign-in page. */
export const signInInternalOperations = {
  signInWithPassword,
  requestSignInLink,
  useSignInLink,
  changePassword,
  getSignInOptions,
  beginOidcSignIn,
  finishOidcSignIn,
} as const;

/** Operations of /admin/v1 about signing in. */
export const signInAdminOperations = { createUserSignInLink } as const;
