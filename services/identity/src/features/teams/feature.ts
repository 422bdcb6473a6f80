import type { teamInternalOperations, teamOperations } from '@bindery/contracts';
import type { HandlersFor } from '@bindery/service-kit';
import type { TeamRoutesDeps } from './deps.ts';
import { createPresentTeams, type SpacesOfTeams } from './presenter.ts';
import { listAccessSubjectsRoute, loadTeamsRoute, resolveSubjectsRoute } from './routes/internal.ts';
import { getTeamRoute, listTeamMembersRoute, listTeamsRoute } from './routes/read-teams.ts';
import { addTeamMemberRoute, removeTeamMemberRoute, updateTeamMembersRoute } from './routes/write-members.ts';
import { createTeamRoute, removeTeamRoute, updateTeamRoute } from './routes/write-teams.ts';

/** What the feature needs of its service. */
export interface TeamsFeatureDeps extends Omit<TeamRoutesDeps, 'present'> {
  readonly spacesOfTeams: SpacesOfTeams;
}

/** Teams: their operations, and how other features show them. */
export const createTeamsFeature = ({ spacesOfTeams, ...given }: TeamsFeatureDeps) => {
  const present = createPresentTeams({ live: given.live, spacesOfTeams });
  const deps: TeamRoutesDeps = { ...given, present };
  const handlers: HandlersFor<typeof teamOperations & typeof teamInternalOperations> = {
    listTeamsInOrganizationById: listTeamsRoute(deps),
    createOrganizationTeam: createTeamRoute(deps),
    getTeamInOrganizationById: getTeamRoute(deps),
    updateTeamInOrganizationById: updateTeamRoute(deps),
    removeTeamFromOrganizationById: removeTeamRoute(deps),
    listTeamMembersInOrganizationById: listTeamMembersRoute(deps),
    updateMembersInOrganizationTeam: updateTeamMembersRoute(deps),
    addMemberToOrganizationTeamById: addTeamMemberRoute(deps),
    deleteMemberFromOrganizationTeamById: removeTeamMemberRoute(deps),
    loadTeams: loadTeamsRoute(deps),
    resolveSubjects: resolveSubjectsRoute(deps),
    listAccessSubjects: listAccessSubjectsRoute(deps),
  };
  return { handlers, present };
};
