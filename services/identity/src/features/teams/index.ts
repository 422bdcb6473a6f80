export { teamPermissions } from './access.ts';
export { type TeamCommand, teamAggregate } from './decider.ts';
export type { TeamEvent, TeamRole } from './events.ts';
export { createTeamsFeature } from './feature.ts';
export { type PresentTeams, spacesOfTeams } from './presenter.ts';
export { teamPublicEvents } from './public-events.ts';
export {
  type LiveTeams,
  liveTeams,
  organizationsOfOwner,
  ownsTeam,
  placesInOrganization,
  placesOfUser,
  teamCounts,
  teamsById,
} from './queries.ts';
export { leaveTeamsReactor } from './reactors/leave-teams.ts';
export { type TeamDocument, type TeamMemberDocument, teamMembersProjection, teamsProjection } from './read-model.ts';
export type { TeamState } from './state.ts';
