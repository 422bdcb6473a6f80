import type { MemberRole } from '@bindery/service-kit';
import type { Epochs } from '../../shared/epochs.ts';
import { type LiveUsers, usersById } from '../users/index.ts';
import { allMembers, type LiveMembers } from './queries.ts';

/** A member with what orders and filters a list of members. */
export interface DirectoryRow {
  readonly userId: string;
  readonly role: MemberRole | null;
  readonly joinedAt: string;
  /** Display name as it is sorted by. */
  readonly sortName: string;
  /** Name and email as they are searched. */
  readonly search: string;
}

/** Epoch of everybody's profile. */
export const profilesEpoch = 'profiles';
/** Epoch of the members of an organization. */
export const membersEpoch = (organizationId: string): string => `members:${organizationId}`;

/**
 * The members of an organization by name, for searching and sorting. Names belong to users and change without the
 * organization, so the two are joined here rather than copied into each other: reading 10,000 members takes some hundred
 * milliseconds, after which they are remembered until a member or a profile changes.
 */
export interface Directory {
  rows(organizationId: string): Promise<readonly DirectoryRow[]>;
}

/** Rows that are remembered, of all organizations together: some 20 MB. */
const rememberedRows = 100_000;

interface Remembered {
  readonly rows: readonly DirectoryRow[];
  readonly members: string;
  readonly profiles: string;
}

export const createDirectory = (deps: {
  readonly members: LiveMembers;
  readonly users: LiveUsers;
  readonly epochs: Epochs;
}): Directory => {
  const { epochs } = deps;
  const remembered = new Map<string, Remembered>();
  let total = 0;

  const forget = (organizationId: string): void => {
    total -= remembered.get(organizationId)?.rows.length ?? 0;
    remembered.delete(organizationId);
  };
  const remember = (organizationId: string, directory: Remembered): void => {
    forget(organizationId);
    for (const oldest of remembered.keys()) {
      if (total + directory.rows.length <= rememberedRows) break;
      forget(oldest);
    }
    if (total + directory.rows.length > rememberedRows) return;
    remembered.set(organizationId, directory);
    total += directory.rows.length;
  };

  const read = async (organizationId: string): Promise<readonly DirectoryRow[]> => {
    const members = await allMembers(deps.members, { organizationId });
    const users = await usersById(
      deps.users,
      members.map(({ userId }) => userId),
    );
    return members.map(({ userId, role, joinedAt }) => {
      const user = users.get(userId);
      return { userId, role, joinedAt, sortName: user?.sortName ?? '', search: user?.search ?? '' };
    });
  };

  return {
    async rows(organizationId) {
      const known = remembered.get(organizationId);
      const members = await epochs.current(membersEpoch(organizationId));
      const profiles = await epochs.current(profilesEpoch);
      if (known?.members === members && known.profiles === profiles) return known.rows;
      const rows = await read(organizationId);
      remember(organizationId, { rows, members, profiles });
      return rows;
    },
  };
};
