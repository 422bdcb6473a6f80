import type { MergeRules } from '@bindery/contracts';
import { describe, test } from '@jest/globals';
import { at, later, specificationOf } from '../../testing.ts';
import type { UpdateOrganization } from './decider.ts';
import { organizationAggregate } from './decider.ts';
import type { OrganizationEvent } from './events.ts';

const given = specificationOf(organizationAggregate.decider);
const organizationId = 'o1';
const past: readonly OrganizationEvent[] = [
  {
    type: 'OrganizationCreated',
    data: { organizationId, title: 'Example', emailDomains: ['a.org'], createdBy: 'u1', createdAt: at },
  },
  { type: 'MemberJoined', data: { organizationId, userId: 'u1', role: 'admin', joinedAt: at, version: 1 } },
];
const command = (changes: UpdateOrganization['changes'], rest: Partial<UpdateOrganization> = {}) => ({
  type: 'UpdateOrganization' as const,
  data: { organizationId, changes, updatedBy: 'u1', at: later, ...rest },
});
type Updated = Extract<OrganizationEvent, { type: 'OrganizationUpdated' }>;
const updated = (
  changes: Updated['data']['changes'],
  version = 1,
  rest: Partial<Updated['data']> = {},
): OrganizationEvent => ({
  type: 'OrganizationUpdated',
  data: { organizationId, changes, updatedBy: 'u1', updatedAt: later, version, ...rest },
});
const rules = (...users: readonly string[]): MergeRules => ({
  type: 'rules',
  rules: [{ rule: 'require_at_least_one_review' }, { rule: 'allow_bypass', users: [...users] }],
});

describe('UpdateOrganization', () => {
  test('records what is different, and only that', () => {
    given(...past)
      .when(command({ title: 'Example', emailDomains: ['a.org'], ai: true, logo: null }))
      .thenEvents(updated({ ai: true }));
    given(...past, updated({ ai: true }))
      .when(command({ ai: true, defaultRole: 'read' }))
      .thenEvents(updated({ defaultRole: 'read' }, 2));
    given(...past)
      .when(command({ title: 'Example', mergeRules: { type: 'none' } }))
      .thenNothing();
  });
  test('refuses another version than the caller saw', () => {
    given(...past, updated({ ai: true }))
      .when(command({ ai: false }, { ifMatch: '0' }))
      .thenRefused('precondition', 'precondition.failed');
    given(...past)
      .when(command({ ai: true }, { ifMatch: '0' }))
      .thenEvents(updated({ ai: true }));
  });
  test('refuses rules that name people who are no members', () => {
    given(...past)
      .when(command({ mergeRules: rules('u1', 'u9') }))
      .thenRefused('invalid', 'organization.merge_rule_user');
    given(...past)
      .when(command({ mergeRules: rules('u1') }))
      .thenEvents(updated({ mergeRules: rules('u1') }));
  });
  test('takes a hostname with its claim and says which one it gave up', () => {
    const first = { name: 'first', claimId: 'c1' };
    const second = { name: 'second', claimId: 'c2' };
    given(...past)
      .when(command({}, { hostname: first }))
      .thenEvents(updated({ hostname: first }));
    given(...past, updated({ hostname: first }))
      .when(command({}, { hostname: second }))
      .thenEvents(updated({ hostname: second }, 2, { previousHostname: first }));
    given(...past, updated({ hostname: first }))
      .when(command({}, { hostname: { name: 'first' } }))
      .thenNothing();
  });
  test('takes no hostname that it has given up meanwhile', () => {
    given(...past)
      .when(command({}, { hostname: { name: 'first' } }))
      .thenRefused('conflict', 'organization.busy');
  });
  test('refuses when there is no such organization', () => {
    given()
      .when(command({ ai: true }))
      .thenRefused('not-found', 'organization.not_found');
  });
});
