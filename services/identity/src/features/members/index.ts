export { changeMember, type MemberCommand } from './changes.ts';
export type { TeamsOfMembers } from './counts.ts';
export { directoryName, directoryProjection, openDirectory } from './directory.ts';
export { createMembersFeature } from './feature.ts';
export { createLastSeen, type LastSeen } from './last-seen.ts';
export { type PresentMembers, presentMember } from './presenter.ts';
export {
  allMembers,
  forEveryMember,
  type LiveMembers,
  membersByUser,
  membershipsOf,
  openMembers,
  sharesOrganization,
} from './queries.ts';
export { type MemberDocument, memberId, membersProjection } from './read-model.ts';
