import type { MemberRole, Principal } from '@bindery/service-kit';
import { describe, expect, test } from '@jest/globals';
import { type Default, type Grants, levelOn, permissionsOf } from './levels.ts';

const caller = (role: MemberRole | null | undefined): Principal => ({
  kind: 'user',
  id: 'u1',
  tokenId: 't1',
  instanceAdmin: false,
  organizations: role === undefined ? {} : { o1: { role, teams: ['team1'] } },
});
const level = (
  role: MemberRole | null | undefined,
  defaultLevel: Default,
  grants: Grants = {},
  collectionDefaults: readonly Default[] = [],
) => levelOn({ principal: caller(role), organizationId: 'o1', defaultLevel, collectionDefaults, grants });

const roles: readonly (MemberRole | null)[] = ['read', 'comment', 'edit', 'review', 'create', 'admin', null];
const order: readonly (MemberRole | null)[] = [null, 'read', 'comment', 'edit', 'review', 'create', 'admin'];
const highest = (...levels: readonly (MemberRole | null)[]): MemberRole | null =>
  levels.reduce((a, b) => (order.indexOf(a) >= order.indexOf(b) ? a : b), null);

/** The rules of DESIGN section 7, said a second time. */
const expected = (role: MemberRole | null, defaultLevel: Default, grant: MemberRole | null): MemberRole | null => {
  if (role === 'admin') return 'admin';
  if (role === null) return grant;
  return highest(grant, defaultLevel === 'inherit' ? role : defaultLevel);
};

describe('the level on a space', () => {
  const defaults: readonly Default[] = ['inherit', ...roles];
  const cases = roles.flatMap((role) => defaults.flatMap((it) => roles.map((grant) => [role, it, grant] as const)));

  test.each(cases)('role %s, default %s, grant %s', (role, defaultLevel, grant) => {
    expect(level(role, defaultLevel, { direct: grant })).toBe(expected(role, defaultLevel, grant));
    expect(level(role, defaultLevel, { teams: [null, grant] })).toBe(expected(role, defaultLevel, grant));
  });

  test('the nearest default that says something counts', () => {
    expect(level('admin', 'inherit', {}, ['read'])).toBe('admin');
    expect(level('create', 'inherit', {}, ['inherit', 'comment', 'edit'])).toBe('comment');
    expect(level('create', 'read', {}, ['edit'])).toBe('read');
    expect(level('create', 'inherit', {}, [null, 'edit'])).toBeNull();
    expect(level('create', 'inherit', {}, ['inherit'])).toBe('create');
  });

  test('who is not in the organization has nothing, whatever is granted', () => {
    expect(level(undefined, 'admin', { direct: 'admin' })).toBeNull();
  });

  test('an instance administrator is nobody in an organization', () => {
    const principal = { ...caller(undefined), instanceAdmin: true };
    expect(
      levelOn({ principal, organizationId: 'o1', defaultLevel: 'admin', collectionDefaults: [], grants: {} }),
    ).toBeNull();
  });

  test('a name of Object.prototype is no organization', () => {
    const input = { principal: caller('admin'), defaultLevel: 'admin', collectionDefaults: [], grants: {} } as const;
    expect(levelOn({ ...input, organizationId: 'constructor' })).toBeNull();
  });
});

describe('permissions', () => {
  const flags = (of: MemberRole | null, locked = false) =>
    Object.entries(permissionsOf(of, locked))
      .filter(([, value]) => value)
      .map(([name]) => name)
      .sort();

  test('each level adds to the one below', () => {
    expect(flags(null)).toEqual([]);
    expect(flags('read')).toEqual(['access', 'view']);
    expect(flags('comment')).toEqual(['access', 'comment', 'view']);
    expect(flags('edit')).toEqual(['access', 'comment', 'edit', 'view']);
    expect(flags('review')).toEqual(['access', 'comment', 'edit', 'merge', 'review', 'view']);
    expect(flags('create')).toEqual(['access', 'comment', 'edit', 'merge', 'review', 'triggerGitSync', 'view']);
    expect(flags('admin')).toHaveLength(10);
  });

  test('a locked space can be read, reviewed and administered, not changed', () => {
    expect(flags('admin', true)).toEqual(
      ['access', 'admin', 'comment', 'installIntegration', 'review', 'view', 'viewInviteLinks'].sort(),
    );
  });
});
