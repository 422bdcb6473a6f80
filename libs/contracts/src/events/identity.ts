import Type from 'typebox';
import { MemberRole } from '../features/members.ts';
import { sessionEndings, sessionMethods } from '../features/sessions.ts';
import { publicEvent } from '../kit/public-event.ts';
import { closed, DateTime, Id, nullable, words } from '../kit/schema.ts';

const id = 'u4Qm2tXz8LkVw0RyB5nE';
const other = 'o9Fj3sNc7PdHa1TgK6vW';
const at = '2026-01-31T09:30:00.000Z';

/** A user exists. Names and addresses are read through the API, by those who may. */
const userCreated = publicEvent({
  type: 'bindery.identity.user.created.v1',
  owner: 'identity',
  summary: 'A user was created.',
  data: closed({ userId: Id(), createdAt: DateTime }),
  samples: [{ userId: id, createdAt: at }],
});

/** What a user shows of itself is different now. */
const userUpdated = publicEvent({
  type: 'bindery.identity.user.updated.v1',
  owner: 'identity',
  summary: 'The name or the picture of a user changed.',
  data: closed({ userId: Id(), updatedAt: DateTime }),
  samples: [{ userId: id, updatedAt: at }],
});

/** A user is gone. Whoever keeps copies of its name or address removes them. */
const userDeleted = publicEvent({
  type: 'bindery.identity.user.deleted.v1',
  owner: 'identity',
  summary: 'A user was deleted and its personal data erased.',
  data: closed({ userId: Id(), deletedAt: DateTime }),
  samples: [{ userId: id, deletedAt: at }],
});

/** An organization exists; its creator follows as the first member. */
const organizationCreated = publicEvent({
  type: 'bindery.identity.organization.created.v1',
  owner: 'identity',
  summary: 'An organization was created.',
  data: closed({ organizationId: Id(), title: Type.String(), createdBy: Id(), createdAt: DateTime }),
  samples: [{ organizationId: other, title: 'Example', createdBy: id, createdAt: at }],
});

/** Settings of an organization are different now. What they are is read through the API. */
const organizationUpdated = publicEvent({
  type: 'bindery.identity.organization.updated.v1',
  owner: 'identity',
  summary: 'Settings of an organization changed.',
  data: closed({ organizationId: Id(), fields: Type.Array(Type.String()), updatedBy: Id(), updatedAt: DateTime }),
  samples: [{ organizationId: other, fields: ['title', 'mergeRules'], updatedBy: id, updatedAt: at }],
});

/** Agents that work for an organization are told something else now. */
const agentInstructionsUpdated = publicEvent({
  type: 'bindery.identity.agent-instructions.updated.v1',
  owner: 'identity',
  summary: 'The agent instructions of an organization changed.',
  data: closed({ organizationId: Id(), updatedBy: Id(), updatedAt: DateTime }),
  samples: [{ organizationId: other, updatedBy: id, updatedAt: at }],
});

/** A user does not belong to an organization any more; whatever was granted to it there ends. */
const memberRemoved = publicEvent({
  type: 'bindery.identity.member.removed.v1',
  owner: 'identity',
  summary: 'A member left or was removed from an organization.',
  data: closed({ organizationId: Id(), userId: Id(), removedAt: DateTime }),
  samples: [{ organizationId: other, userId: id, removedAt: at }],
});

/** A member signs in through SSO from now on, or does not any more. */
const memberSsoChanged = publicEvent({
  type: 'bindery.identity.member.sso-changed.v1',
  owner: 'identity',
  summary: 'A member became an SSO member, or ceased to be one.',
  data: closed({ organizationId: Id(), userId: Id(), sso: Type.Boolean(), changedAt: DateTime }),
  samples: [{ organizationId: other, userId: id, sso: true, changedAt: at }],
});

/** A user belongs to an organization now; role null is a guest. */
const memberJoined = publicEvent({
  type: 'bindery.identity.member.joined.v1',
  owner: 'identity',
  summary: 'A user joined an organization.',
  data: closed({ organizationId: Id(), userId: Id(), role: nullable(MemberRole), joinedAt: DateTime }),
  samples: [
    { organizationId: other, userId: id, role: 'edit', joinedAt: at },
    { organizationId: other, userId: id, role: null, joinedAt: at },
  ],
});

/** A member may do more or less than before. */
const memberRoleChanged = publicEvent({
  type: 'bindery.identity.member.role-changed.v1',
  owner: 'identity',
  summary: 'The role of a member changed.',
  data: closed({
    organizationId: Id(),
    userId: Id(),
    role: nullable(MemberRole),
    previousRole: nullable(MemberRole),
    changedAt: DateTime,
  }),
  samples: [{ organizationId: other, userId: id, role: 'admin', previousRole: 'edit', changedAt: at }],
});

/** A personal access token works from now on. Neither the secret nor its hash leaves the service. */
const tokenCreated = publicEvent({
  type: 'bindery.identity.token.created.v1',
  owner: 'identity',
  summary: 'A personal access token was created.',
  data: closed({ userId: Id(), tokenId: Id(), createdAt: DateTime }),
  samples: [{ userId: id, tokenId: other, createdAt: at }],
});

/** A personal access token does not work any more. */
const tokenRevoked = publicEvent({
  type: 'bindery.identity.token.revoked.v1',
  owner: 'identity',
  summary: 'A personal access token was revoked.',
  data: closed({ userId: Id(), tokenId: Id(), revokedAt: DateTime }),
  samples: [{ userId: id, tokenId: other, revokedAt: at }],
});

/** An identity provider was added to an organization. Its certificate and addresses are read through the API. */
const samlProviderCreated = publicEvent({
  type: 'bindery.identity.saml-provider.created.v1',
  owner: 'identity',
  summary: 'A SAML provider was added to an organization.',
  data: closed({ organizationId: Id(), providerId: Id(), createdAt: DateTime }),
  samples: [{ organizationId: other, providerId: id, createdAt: at }],
});

/** Something about an identity provider changed. */
const samlProviderUpdated = publicEvent({
  type: 'bindery.identity.saml-provider.updated.v1',
  owner: 'identity',
  summary: 'A SAML provider was changed.',
  description: '`fields` names what changed, without the values.',
  data: closed({
    organizationId: Id(),
    providerId: Id(),
    fields: Type.Array(Type.String()),
    updatedAt: DateTime,
  }),
  samples: [{ organizationId: other, providerId: id, fields: ['certificate'], updatedAt: at }],
});

/** An identity provider was removed. */
const samlProviderDeleted = publicEvent({
  type: 'bindery.identity.saml-provider.deleted.v1',
  owner: 'identity',
  summary: 'A SAML provider was removed from an organization.',
  data: closed({ organizationId: Id(), providerId: Id(), deletedAt: DateTime }),
  samples: [{ organizationId: other, providerId: id, deletedAt: at }],
});

/** Somebody signed in through an identity provider. */
const samlLoginAccepted = publicEvent({
  type: 'bindery.identity.saml-login.accepted.v1',
  owner: 'identity',
  summary: 'Somebody signed in through a SAML provider.',
  data: closed({ organizationId: Id(), providerId: Id(), userId: Id(), acceptedAt: DateTime }),
  samples: [{ organizationId: other, providerId: id, userId: id, acceptedAt: at }],
});

/** An answer of an identity provider, or what passed for one, was refused. Not every one is told under an attack. */
const samlLoginRefused = publicEvent({
  type: 'bindery.identity.saml-login.refused.v1',
  owner: 'identity',
  summary: 'An answer of a SAML provider was refused.',
  description: '`reason` is a stable word. Of many refusals in a short time only the first ones are told.',
  data: closed({ organizationId: Id(), providerId: Id(), reason: Type.String(), refusedAt: DateTime }),
  samples: [{ organizationId: other, providerId: id, reason: 'audience', refusedAt: at }],
});

/** Somebody signed in with a browser. */
const sessionStarted = publicEvent({
  type: 'bindery.identity.session.started.v1',
  owner: 'identity',
  summary: 'A user signed in.',
  data: closed({
    userId: Id(),
    sessionId: Id(),
    method: words(sessionMethods),
    organizationId: Type.Optional(Id('Organization whose identity provider vouched for the user.')),
    startedAt: DateTime,
    expiresAt: DateTime,
  }),
  samples: [{ userId: id, sessionId: other, method: 'password', startedAt: at, expiresAt: at }],
});

/** Browsers are signed out. */
const sessionsEnded = publicEvent({
  type: 'bindery.identity.session.ended.v1',
  owner: 'identity',
  summary: 'Sessions of a user ended.',
  data: closed({
    userId: Id(),
    sessionIds: Type.Array(Id()),
    reason: words(sessionEndings),
    endedAt: DateTime,
  }),
  samples: [{ userId: id, sessionIds: [other], reason: 'signed-out', endedAt: at }],
});

/** A user has a password now, or another one. */
const passwordChanged = publicEvent({
  type: 'bindery.identity.password.changed.v1',
  owner: 'identity',
  summary: 'A user set or changed the password.',
  data: closed({ userId: Id(), changedAt: DateTime }),
  samples: [{ userId: id, changedAt: at }],
});

/** Somebody may sign in once with a link. */
const signInLinkCreated = publicEvent({
  type: 'bindery.identity.sign-in-link.created.v1',
  owner: 'identity',
  summary: 'A one-time sign-in link was made for a user.',
  data: closed({ userId: Id(), linkId: Id(), createdAt: DateTime, expiresAt: DateTime }),
  samples: [{ userId: id, linkId: other, createdAt: at, expiresAt: at }],
});

/** Somebody tried to sign in and was refused. Of many in a day only the first ones are told. */
const signInFailed = publicEvent({
  type: 'bindery.identity.sign-in.failed.v1',
  owner: 'identity',
  summary: 'An attempt to sign in as a user was refused.',
  description: '`reason` is a stable word. Attempts on accounts that do not exist are not told.',
  data: closed({ userId: Id(), reason: Type.String(), failedAt: DateTime }),
  samples: [{ userId: id, reason: 'password', failedAt: at }],
});

/** An account can be entered through the OpenID provider of the instance from now on. */
const externalIdentityLinked = publicEvent({
  type: 'bindery.identity.external-identity.linked.v1',
  owner: 'identity',
  summary: 'A user was linked to an account at the OpenID provider.',
  data: closed({ userId: Id(), linkedAt: DateTime }),
  samples: [{ userId: id, linkedAt: at }],
});

/** The public events of identity. */
export const identityEvents = {
  userCreated,
  userUpdated,
  userDeleted,
  organizationCreated,
  organizationUpdated,
  agentInstructionsUpdated,
  memberJoined,
  memberRoleChanged,
  memberRemoved,
  memberSsoChanged,
  tokenCreated,
  tokenRevoked,
  sessionStarted,
  sessionsEnded,
  passwordChanged,
  signInLinkCreated,
  signInFailed,
  externalIdentityLinked,
  samlProviderCreated,
  samlProviderUpdated,
  samlProviderDeleted,
  samlLoginAccepted,
  samlLoginRefused,
} as const;
