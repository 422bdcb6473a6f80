import { type MemberRole, maxRole, type Principal } from '@bindery/service-kit';
import { levelOn } from '../access/index.ts';
import { type ResourceGrantsDocument, subjectOf } from '../space-model/index.ts';
import type { Resource } from './resource.ts';

/** The level of a member, by the function that enforces it. */
export const levelOf = (
  resource: Resource,
  levels: readonly ResourceGrantsDocument['levels'][],
  member: { readonly userId: string; readonly role: MemberRole | null; readonly teams: readonly string[] },
): MemberRole | null => {
  const { organizationId, defaults } = resource;
  const { userId, role, teams } = member;
  const subjects = [subjectOf('user', userId), ...teams.map((id) => subjectOf('team', id))];
  let direct: MemberRole | null = null;
  for (const given of levels)
    for (const subject of subjects) if (Object.hasOwn(given, subject)) direct = maxRole(direct, given[subject]);
  const principal: Principal = {
    ...{ kind: 'user', id: userId, tokenId: userId, instanceAdmin: false },
    organizations: { [organizationId]: { role, teams } },
  };
  const [defaultLevel, ...collectionDefaults] = defaults;
  const known = { principal, organizationId, collectionDefaults, grants: { direct } };
  const level = levelOn({ ...known, defaultLevel });
  if (level !== null || !resource.openToCollection) return level;
  return levelOn({ ...known, defaultLevel: 'inherit' }) === null ? null : 'read';
};
