import type { MemberRole } from '@bindery/service-kit';
import { specification } from '@bindery/testing/event-sourcing';
import { describe, test } from '@jest/globals';
import { type GrantCommand, grantsDecider } from './decider.ts';
import type { GrantEvent, RevocationReason } from './events.ts';

const grants = specification(grantsDecider);
const early = '2026-03-01T12:00:00.000Z';
const at = '2026-03-02T12:00:00.000Z';
const about = { resource: 'space', resourceId: 's1', organizationId: 'o1' } as const;
const user = { kind: 'user', subjectId: 'u1' } as const;
const team = { kind: 'team', subjectId: 't1' } as const;

const granted = (
  subject: typeof user | typeof team,
  level: MemberRole,
  more: { previousLevel?: MemberRole; grantedAt?: string; organizationId?: string } = {},
): GrantEvent => ({
  type: 'AccessGranted',
  data: { ...about, ...subject, level, previousLevel: null, grantedBy: 'boss', grantedAt: at, ...more },
});
const revoked = (
  subject: typeof user | typeof team,
  previousLevel: MemberRole,
  reason: RevocationReason = 'removed',
  organizationId = 'o1',
): GrantEvent => ({
  type: 'AccessRevoked',
  data: { ...about, organizationId, ...subject, previousLevel, reason, revokedBy: 'boss', revokedAt: at },
});
const set = (level: MemberRole | null, only?: 'existing' | 'raise', most = 10): GrantCommand => ({
  type: 'SetGrants',
  data: { ...about, subjects: [user, team], level, ...(only ? { only } : {}), by: 'boss', at },
  most,
});
const drop = (more: Partial<Extract<GrantCommand, { type: 'DropGrants' }>['data']> = {}): GrantCommand => ({
  type: 'DropGrants',
  data: {
    resourceId: 's1',
    organizationId: 'o1',
    before: at,
    reason: 'member-removed',
    by: 'boss',
    at,
    ...more,
  },
});

describe('giving a level', () => {
  test('to all of them', () =>
    grants
      .given([])
      .when(set('edit'))
      .thenEvents([granted(user, 'edit'), granted(team, 'edit')]));
  test('says what was there before, and leaves alone who has it', () =>
    grants
      .given([granted(user, 'read'), granted(team, 'edit')])
      .when(set('edit'))
      .thenEvents([granted(user, 'edit', { previousLevel: 'read' })]));
  test('null takes it', () =>
    grants
      .given([granted(user, 'read')])
      .when(set(null))
      .thenEvents([revoked(user, 'read')]));
  test('of those who have one only', () =>
    grants
      .given([granted(user, 'read')])
      .when(set('edit', 'existing'))
      .thenRefuses('permission.not_found'));
  test('never lower, when it is to be raised', () =>
    grants
      .given([granted(user, 'admin'), granted(team, 'read')])
      .when(set('edit', 'raise'))
      .thenEvents([granted(team, 'edit', { previousLevel: 'read' })]));
  test('to so many', () =>
    grants
      .given([])
      .when(set('edit', undefined, 1))
      .thenRefuses('permissions.too_many'));
  test('what another organization gave ends', () =>
    grants
      .given([granted(user, 'admin', { organizationId: 'o0' })])
      .when(set('read'))
      .thenEvents([revoked(user, 'admin', 'transferred', 'o0'), granted(user, 'read'), granted(team, 'read')]));
});

describe('dropping', () => {
  test('what a member had', () =>
    grants
      .given([granted(user, 'edit'), granted(team, 'edit')])
      .when(drop({ subject: user }))
      .thenEvents([revoked(user, 'edit', 'member-removed')]));
  test('nothing twice', () =>
    grants
      .given([granted(user, 'edit'), revoked(user, 'edit')])
      .when(drop({ subject: user }))
      .thenNothing());
  test('not what was given since', () =>
    grants
      .given([granted(user, 'edit')])
      .when(drop({ before: early }))
      .thenNothing());
  test('not what another organization gave', () =>
    grants
      .given([granted(user, 'edit')])
      .when(drop({ organizationId: 'o2' }))
      .thenNothing());
});
