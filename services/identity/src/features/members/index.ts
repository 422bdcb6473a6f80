export { createDirectory, membersEpoch, profilesEpoch } from './directory.ts';
export { createLastSeen, type LastSeen } from './last-seen.ts';
export { type LiveMembers, membershipsOf, openMembers, sharesOrganization } from './queries.ts';
export { presentMember } from './presenter.ts';
export { type MemberDocument, memberId, membersProjection } from './read-model.ts';
export { getMemberRoute } from './routes/get-member.ts';
export { listMembersRoute } from './routes/list-members.ts';
export { pingRoute } from './routes/ping.ts';
export { putMemberRoute } from './routes/put-member.ts';
