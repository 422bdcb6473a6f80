import type { DomainEvent } from '@bindery/event-sourcing';

const userId = 'u4Qm2tXz8LkVw0RyB5nE';

/** What of signing in is told to everybody, and what is not. @param secret stands wherever something must not leave */
export const signInCases = (secret: string, at: string): readonly (readonly [string | undefined, DomainEvent])[] => [
  [
    'bindery.identity.session.started.v1',
    {
      type: 'SessionStarted',
      data: {
        ...{ userId, sessionId: 's1', sessionHash: secret, method: 'saml', organizationId: 'o1' },
        ...{ client: secret, startedAt: at, expiresAt: at },
      },
    },
  ],
  [
    'bindery.identity.session.ended.v1',
    { type: 'SessionsEnded', data: { userId, sessionIds: ['s1'], reason: 'revoked', endedAt: at } },
  ],
  [
    'bindery.identity.password.changed.v1',
    { type: 'PasswordSet', data: { userId, passwordId: 'p1', sealed: secret, setAt: at } },
  ],
  [
    'bindery.identity.sign-in-link.created.v1',
    {
      type: 'SignInLinkIssued',
      data: { userId, linkId: 'l1', purpose: 'reset', mail: true, baseUrl: secret, issuedAt: at, expiresAt: at },
    },
  ],
  [undefined, { type: 'SignInLinkUsed', data: { userId, linkId: 'l1', usedAt: at } }],
  [
    'bindery.identity.sign-in.failed.v1',
    { type: 'SignInFailed', data: { userId, method: 'password', reason: 'password', client: secret, failedAt: at } },
  ],
  [undefined, { type: 'SignInFailed', data: { method: 'oidc', reason: 'state', failedAt: at } }],
  [undefined, { type: 'ExternalIdentityChosen', data: { userId, identity: secret, chosenAt: at } }],
  [
    'bindery.identity.external-identity.linked.v1',
    { type: 'ExternalIdentityLinked', data: { userId, identity: secret, sealed: secret, linkedAt: at } },
  ],
];
