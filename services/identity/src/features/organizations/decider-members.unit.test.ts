import type { MemberRole } from '@bindery/service-kit';
import { describe, expect, test } from '@jest/globals';
import { at, later, specificationOf } from '../../testing.ts';
import { type OrganizationCommand, organizationAggregate } from './decider.ts';
import type { OrganizationEvent } from './events.ts';
import { memberIn } from './state.ts';

const given = specificationOf(organizationAggregate.decider);
const organizationId = 'o1';
const created: OrganizationEvent = {
  type: 'OrganizationCreated',
  data: { organizationId, title: 'Example', emailDomains: [], createdBy: 'u1', createdAt: at },
};
const joined = (userId: string, role: MemberRole | null, version = 1): OrganizationEvent => ({
  type: 'MemberJoined',
  data: { organizationId, userId, role, joinedAt: at, version },
});
const removed = (userId: string, role: MemberRole | null, version = 1): OrganizationEvent => ({
  type: 'MemberRemoved',
  data: { organizationId, userId, role, removedAt: later, version },
});
const changed = (userId: string, role: MemberRole | null, previousRole: MemberRole | null): OrganizationEvent => ({
  type: 'MemberRoleChanged',
  data: { organizationId, userId, role, previousRole, changedAt: later, version: 2 },
});
type OnMember = 'PutMember' | 'ChangeMemberRole' | 'JoinOrganization';
const roleCommand = (
  type: OnMember,
  userId: string,
  role: MemberRole | null,
  ifMatch?: string,
): OrganizationCommand => ({
  type,
  data: { organizationId, userId, role, at: later, ...(ifMatch === undefined ? {} : { ifMatch }) },
});
const remove = (userId: string, ifMatch?: string): OrganizationCommand => ({
  type: 'RemoveMember',
  data: { organizationId, userId, at: later, ...(ifMatch === undefined ? {} : { ifMatch }) },
});
const one = [created, joined('u1', 'admin'), joined('u2', 'edit')] as const;
const two = [...one, joined('u3', 'admin')] as const;
const last = ['conflict', 'organization.last_administrator'] as const;

describe('the last administrator', () => {
  test.each(['PutMember', 'ChangeMemberRole'] as const)('is not demoted by %s', (type) => {
    for (const role of ['create', null] as const)
      given(...one)
        .when(roleCommand(type, 'u1', role))
        .thenRefused(...last);
    given(...two)
      .when(roleCommand(type, 'u1', null))
      .thenEvents(changed('u1', null, 'admin'));
    given(...two, changed('u3', 'read', 'admin'))
      .when(roleCommand(type, 'u1', 'read'))
      .thenRefused(...last);
  });
  test('is not removed', () => {
    given(...one)
      .when(remove('u1'))
      .thenRefused(...last);
    given(...two)
      .when(remove('u1'))
      .thenEvents(removed('u1', 'admin'));
    given(...two, removed('u3', 'admin'))
      .when(remove('u1'))
      .thenRefused(...last);
  });
  test('is one when another is promoted', () => {
    given(...one, changed('u2', 'admin', 'edit'))
      .when(remove('u1'))
      .thenEvents(removed('u1', 'admin'));
  });
});

describe('RemoveMember', () => {
  test('stays quiet when there is no such member', () => {
    given(...one)
      .when(remove('u9'))
      .thenNothing();
  });
  test('refuses another version than the caller saw', () => {
    given(...one)
      .when(remove('u2', '7'))
      .thenRefused('precondition', 'precondition.failed');
    given(...one)
      .when(remove('u9', '*'))
      .thenRefused('precondition', 'precondition.failed');
  });
  test('leaves no ETag behind that comes back with the member', () => {
    given(...one, changed('u2', 'read', 'edit'), removed('u2', 'read', 2))
      .when(roleCommand('JoinOrganization', 'u2', 'read'))
      .thenEvents({
        type: 'MemberJoined',
        data: { organizationId, userId: 'u2', role: 'read', joinedAt: later, version: 3 },
      });
  });
});

describe('RemoveErasedMember', () => {
  const erased = (userId: string): OrganizationCommand => ({
    type: 'RemoveErasedMember',
    data: { organizationId, userId, at: later },
  });
  test('also ends the membership of the last administrator, after which somebody else can be put there', () => {
    given(created, joined('u1', 'admin'))
      .when(erased('u1'))
      .thenEvents(removed('u1', 'admin', 1));
    given(created, joined('u1', 'admin'), removed('u1', 'admin', 1))
      .when(roleCommand('PutMember', 'u2', 'admin'))
      .thenEvents({
        type: 'MemberJoined',
        data: { organizationId, userId: 'u2', role: 'admin', joinedAt: later, version: 2 },
      });
  });
  test('stays quiet when there is no such member', () => {
    given(...one)
      .when(erased('u9'))
      .thenNothing();
  });
});

describe('JoinOrganization', () => {
  test('leaves a member as it is', () => {
    given(...one)
      .when(roleCommand('JoinOrganization', 'u2', null))
      .thenNothing();
  });
});

describe('ChangeMemberRole', () => {
  test('adds nobody', () => {
    given(...one)
      .when(roleCommand('ChangeMemberRole', 'u9', 'read'))
      .thenRefused('not-found', 'member.not_found');
  });
});

describe('SetMemberSso', () => {
  const set = (userId: string): OrganizationCommand => ({
    type: 'SetMemberSso',
    data: { organizationId, userId, sso: true, at: later },
  });
  const done: OrganizationEvent = {
    type: 'MemberSsoChanged',
    data: { organizationId, userId: 'u2', sso: true, changedAt: later, version: 2 },
  };
  test('marks a member once, and a change of the role keeps the mark', () => {
    given(...one)
      .when(set('u2'))
      .thenEvents(done);
    given(...one, done)
      .when(set('u2'))
      .thenNothing();
    const { state } = given(...one, done, changed('u2', 'read', 'edit'));
    expect(state.status === 'active' && memberIn(state.roster, 'u2')).toMatchObject({ role: 'read', sso: true });
    given(...one)
      .when(set('u9'))
      .thenRefused('not-found', 'member.not_found');
  });
});

test('every member is found again among those whose hashes meet', () => {
  const ids = Array.from({ length: 5000 }, (_, index) => `m${index}`);
  const half = ids.filter((_, index) => index % 2 === 0);
  const { state } = given(created, ...ids.map((id) => joined(id, 'read')), ...half.map((id) => removed(id, 'read')));
  expect(state).toMatchObject({ members: 2500, administrators: 0 });
  const roleOf = (id: string) => (state.status === 'active' ? memberIn(state.roster, id)?.role : undefined);
  expect(ids.every((id, index) => roleOf(id) === (index % 2 === 0 ? undefined : 'read'))).toBe(true);
});
