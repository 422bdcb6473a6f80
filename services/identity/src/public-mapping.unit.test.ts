import { publicEvents, validatePublicEvent } from '@bindery/contracts';
import type { DomainEvent, Recorded } from '@bindery/event-sourcing';
import { describe, expect, test } from '@jest/globals';
import { teamAndInviteCases } from './features/invites/public-cases.testing.ts';
import { signInCases } from './features/passwords/public-cases.testing.ts';
import { publicMapping } from './public-mapping.ts';
import { at, later } from './testing.ts';

const recorded = (event: DomainEvent): Recorded<DomainEvent> => ({
  ...event,
  id: '00000000-0000-4000-8000-000000000000',
  stream: 'identity.any-1',
  revision: 0,
  position: 1,
  metadata: {
    correlationId: 'c',
    causationId: 'c',
    actor: { kind: 'user', id: 'u1' },
    schemaVersion: 1,
    time: at,
  },
});

const secret = 'SECRET-MARKER';
const personal = { sealed: secret, marks: { email: secret } };
const user = 'u4Qm2tXz8LkVw0RyB5nE';
const organization = 'o9Fj3sNc7PdHa1TgK6vW';
const cases: readonly (readonly [string | undefined, DomainEvent])[] = [
  [
    'bindery.identity.user.created.v1',
    { type: 'UserRegistered', data: { userId: user, emailDigest: secret, personal, registeredAt: at } },
  ],
  ['bindery.identity.user.deleted.v1', { type: 'UserErased', data: { userId: user, erasedAt: at } }],
  ['bindery.identity.user.updated.v1', { type: 'UserProfileChanged', data: { userId: user, personal, changedAt: at } }],
  [
    'bindery.identity.organization.created.v1',
    {
      type: 'OrganizationCreated',
      data: { organizationId: organization, title: 'T', emailDomains: [secret], createdBy: user, createdAt: at },
    },
  ],
  [
    'bindery.identity.member.joined.v1',
    {
      type: 'MemberJoined',
      data: { organizationId: organization, userId: user, role: null, joinedAt: at, version: 1 },
    },
  ],
  [
    'bindery.identity.member.role-changed.v1',
    {
      type: 'MemberRoleChanged',
      data: {
        organizationId: organization,
        userId: user,
        role: 'edit',
        previousRole: null,
        changedAt: later,
        version: 2,
      },
    },
  ],
  [
    'bindery.identity.token.created.v1',
    {
      type: 'TokenIssued',
      data: { userId: user, tokenId: 't1', tokenHash: secret, name: secret, issuedAt: at, expiresAt: later },
    },
  ],
  [
    'bindery.identity.token.revoked.v1',
    { type: 'TokenRevoked', data: { userId: user, tokenId: 't1', revokedAt: later } },
  ],
  [undefined, { type: 'EmailReserved', data: { emailDigest: secret, userId: user, personal, reservedAt: at } }],
  [
    undefined,
    {
      type: 'InstanceInitialized',
      data: { administratorId: user, organizationId: organization, initializedAt: at },
    },
  ],
  [
    'bindery.identity.organization.updated.v1',
    {
      type: 'OrganizationUpdated',
      data: { organizationId: organization, changes: { title: secret }, updatedBy: user, updatedAt: later, version: 1 },
    },
  ],
  [
    'bindery.identity.agent-instructions.updated.v1',
    {
      type: 'AgentInstructionsUpdated',
      data: { organizationId: organization, instructions: secret, updatedBy: user, updatedAt: later },
    },
  ],
  [
    'bindery.identity.member.sso-changed.v1',
    {
      type: 'MemberSsoChanged',
      data: { organizationId: organization, userId: user, sso: true, changedAt: later, version: 2 },
    },
  ],
  [
    'bindery.identity.member.removed.v1',
    {
      type: 'MemberRemoved',
      data: { organizationId: organization, userId: user, role: null, removedAt: later, version: 2 },
    },
  ],
  [
    'bindery.identity.saml-provider.created.v1',
    {
      type: 'SamlProviderCreated',
      data: { providerId: 'p1', organizationId: organization, label: secret, certificates: [secret], createdAt: at },
    },
  ],
  [
    'bindery.identity.saml-provider.updated.v1',
    {
      type: 'SamlProviderChanged',
      data: { providerId: 'p1', organizationId: organization, changes: { label: secret }, changedAt: later },
    },
  ],
  [
    'bindery.identity.saml-provider.deleted.v1',
    { type: 'SamlProviderDeleted', data: { providerId: 'p1', organizationId: organization, deletedAt: later } },
  ],
  [
    'bindery.identity.saml-login.accepted.v1',
    {
      type: 'SamlLoginAccepted',
      data: { providerId: 'p1', organizationId: organization, userId: user, acceptedAt: later },
    },
  ],
  [
    'bindery.identity.saml-login.refused.v1',
    {
      type: 'SamlLoginRefused',
      data: { providerId: 'p1', organizationId: organization, reason: 'audience', refusedAt: later },
    },
  ],
  ...teamAndInviteCases(secret, at),
  ...signInCases(secret, at),
  [undefined, { type: 'FromTheFuture', data: { secret } }],
];

describe('public events of identity', () => {
  test.each(cases)('%s', (type, event) => {
    const mapped = publicMapping(recorded(event));
    expect(mapped.map((one) => one.type)).toEqual(type === undefined ? [] : [type]);
    expect(JSON.stringify(mapped)).not.toContain(secret);
    for (const { subject, data } of mapped)
      validatePublicEvent({
        specversion: '1.0',
        id: '00000000-0000-4000-8000-000000000000',
        source: '/services/identity',
        type,
        subject,
        time: at,
        datacontenttype: 'application/json',
        dataschema: 'https://example.org/schema',
        data,
      });
  });

  test('every event of the catalogue is published by some domain event', () => {
    const owned = [...publicEvents.values()].filter(({ owner }) => owner === 'identity').map(({ type }) => type);
    expect(owned.toSorted()).toEqual(cases.flatMap(([type]) => (type === undefined ? [] : [type])).toSorted());
  });
});
