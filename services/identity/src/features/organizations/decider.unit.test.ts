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
const joined = (userId: string, role: MemberRole | null, joinedAt = at): OrganizationEvent => ({
  type: 'MemberJoined',
  data: { organizationId, userId, role, joinedAt, version: 1 },
});
const put = (userId: string, role: MemberRole | null, ifMatch?: string): OrganizationCommand => ({
  type: 'PutMember',
  data: { organizationId, userId, role, at: later, ...(ifMatch === undefined ? {} : { ifMatch }) },
});
const changed: OrganizationEvent = {
  type: 'MemberRoleChanged',
  data: { organizationId, userId: 'u2', role: null, previousRole: 'edit', changedAt: later, version: 2 },
};

describe('CreateOrganization', () => {
  test('creates it with the caller as administrator', () => {
    given().when({ type: 'CreateOrganization', data: created.data }).thenEvents(created, joined('u1', 'admin'));
  });
  test('refuses an id that is taken', () => {
    given(created, joined('u1', 'admin'))
      .when({ type: 'CreateOrganization', data: { ...created.data, createdBy: 'u9' } })
      .thenRefused('conflict', 'organization.exists');
  });
  test('stays quiet when it is repeated', () => {
    given(created, joined('u1', 'admin')).when({ type: 'CreateOrganization', data: created.data }).thenNothing();
  });
});

describe('PutMember', () => {
  const past = [created, joined('u1', 'admin'), joined('u2', 'edit')] as const;
  test('adds', () => {
    given(...past)
      .when(put('u3', 'read'))
      .thenEvents(joined('u3', 'read', later));
  });
  test('changes the role, to guest too', () => {
    given(...past)
      .when(put('u2', null))
      .thenEvents(changed);
  });
  test('stays quiet when the role is the same', () => {
    given(...past)
      .when(put('u2', 'edit', '1'))
      .thenNothing();
  });
  test('refuses when there is no such organization', () => {
    given().when(put('u2', 'edit')).thenRefused('not-found', 'organization.not_found');
  });
  test('refuses a change of a version that is not the present one', () => {
    given(...past)
      .when(put('u2', null, '*'))
      .thenEvents(changed);
    given(...past)
      .when(put('u2', null, '1'))
      .thenEvents(changed);
    given(...past, changed)
      .when(put('u2', 'read', '1'))
      .thenRefused('precondition', 'precondition.failed');
    given(...past)
      .when(put('u3', 'read', '*'))
      .thenRefused('precondition', 'precondition.failed');
  });
});

test('10,000 members fold quickly and completely', () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => `user${(index * 7919).toString(36)}`);
  const began = performance.now();
  const { state } = given(created, ...ids.map((id) => joined(id, 'read')));
  expect(performance.now() - began).toBeLessThan(2000);
  expect(state).toMatchObject({ status: 'active', members: 10_000 });
  expect(ids.every((id) => state.status === 'active' && memberIn(state.roster, id)?.role === 'read')).toBe(true);
});

test('events out of place or from a newer version change nothing', () => {
  const unknown = { type: 'OrganizationArchived', data: {} } as unknown as OrganizationEvent;
  expect(given(created, unknown).state).toEqual(given(created).state);
  expect(given(joined('u1', 'admin')).state).toEqual({ status: 'none' });
});
