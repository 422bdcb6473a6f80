import type { memberOperations } from '@bindery/contracts';
import type { HandlersFor, ServiceClient } from '@bindery/service-kit';
import type { HasActiveProvider } from '../../shared/ports.ts';
import type { MemberChangesDeps } from './changes.ts';
import { createCountOfMembers, type TeamsOfMembers } from './counts.ts';
import { createPresentMembers } from './presenter.ts';
import { removeMemberRoute, setSsoMemberRoute, updateMemberRoute } from './routes/change-members.ts';
import { getMemberRoute } from './routes/get-member.ts';
import { type ListMembersDeps, listMembersRoute } from './routes/list-members.ts';
import { pingRoute } from './routes/ping.ts';
import { putMemberRoute } from './routes/put-member.ts';

/** What the feature needs of its service. */
export type MembersFeatureDeps = Omit<ListMembersDeps & MemberChangesDeps, 'present'> & {
  readonly services: ServiceClient;
  readonly teamsOfMembers: TeamsOfMembers;
  readonly hasActiveProvider: HasActiveProvider;
  readonly userExists: (userId: string) => Promise<boolean>;
};

/** Members of organizations: their operations, and how other features show them. */
export const createMembersFeature = (given: MembersFeatureDeps) => {
  const present = createPresentMembers({ lastSeen: given.lastSeen, countOfMembers: createCountOfMembers(given) });
  const deps = { ...given, present };
  const handlers: HandlersFor<typeof memberOperations> = {
    listMembersInOrganizationById: listMembersRoute(deps),
    getMemberInOrganizationById: getMemberRoute(deps),
    updateOrganizationMemberLastSeenAt: pingRoute(deps),
    updateMemberInOrganizationById: updateMemberRoute(deps),
    removeMemberFromOrganizationById: removeMemberRoute(deps),
    setUserAsSSOMemberForOrganization: setSsoMemberRoute(deps),
  };
  return { handlers, putOrganizationMember: putMemberRoute(deps), present };
};
