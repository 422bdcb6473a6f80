import { countSpacesOfMembers } from '@bindery/contracts';
import type { ServiceClient } from '@bindery/service-kit';
import type { CountOfMembers } from './presenter.ts';

/** The teams of members of one organization, by user id; absent where there are none. */
export type TeamsOfMembers = (
  organizationId: string,
  userIds: readonly string[],
) => Promise<ReadonlyMap<string, readonly { readonly teamId: string; readonly role: 'owner' | 'member' }[]>>;

/** Counts teams here and spaces in the content service, which knows the grants. */
export const createCountOfMembers =
  (deps: { readonly services: ServiceClient; readonly teamsOfMembers: TeamsOfMembers }): CountOfMembers =>
  async (context, organizationId, members) => {
    const places = await deps.teamsOfMembers(
      organizationId,
      members.map(({ userId }) => userId),
    );
    const subjects = members.map(({ userId, role }) => ({
      userId,
      role,
      teams: (places.get(userId) ?? []).map(({ teamId }) => teamId),
    }));
    const body = { organizationId, members: subjects };
    const answer = await deps.services.call(countSpacesOfMembers, context, { params: {}, query: {}, body });
    return new Map(
      subjects.map(({ userId, teams }, index) => [
        userId,
        { spaces: answer.body.counts[index] ?? 0, teams: teams.length },
      ]),
    );
  };
