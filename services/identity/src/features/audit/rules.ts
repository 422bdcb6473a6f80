import { type AuditRules, auditRules } from '@bindery/audit';
import type { AgentInstructionsUpdated } from '../agent-instructions/index.ts';
import type { DenialEvent } from '../denials/index.ts';
import type { EmailEvent } from '../emails/index.ts';
import type { InstanceEvent } from '../instance/index.ts';
import type { OrganizationEvent } from '../organizations/index.ts';
import type { RecoveryEvent } from '../recoveries/index.ts';
import type { SessionEvent } from '../sessions/index.ts';
import type { SubdomainEvent } from '../subdomains/index.ts';
import type { TeamEvent } from '../teams/index.ts';
import type { CredentialsEvent } from '../tokens/index.ts';
import type { UserEvent } from '../users/index.ts';
import { externalIdentityRules, failureRules, inviteRules, passwordRules, samlRules } from './rules-sign-in.ts';

const member = (userId: string) => ({ type: 'member', id: userId });
const token = (tokenId: string) => ({ type: 'token', id: tokenId });

const users: AuditRules<UserEvent> = {
  UserRegistered: { action: 'user.created', label: 'User created' },
  UserErased: { action: 'user.deleted', label: 'User deleted', facts: () => ({ values: { deleted: true } }) },
  UserProfileChanged: {
    action: 'user.profile-changed',
    label: 'Profile changed',
    // The values are sealed and stay so; which ones changed is no secret.
    facts: ({ personal }) => ({ details: { fields: Object.keys(personal.marks) } }),
  },
};

const emails: AuditRules<EmailEvent> = {
  EmailReleased: { skip: 'Half of the deletion of a user, which has an entry of its own.' },
  EmailReserved: { skip: 'Half of the creation of a user, which has an entry of its own.' },
};

const credentials: AuditRules<CredentialsEvent> = {
  TokenIssued: {
    action: 'token.created',
    label: 'Access token created',
    facts: ({ tokenId, userId, name, expiresAt }) => ({
      target: token(tokenId),
      values: { name, expiresAt: expiresAt ?? null },
      details: { userId },
    }),
  },
  TokenRevoked: {
    action: 'token.revoked',
    label: 'Access token revoked',
    facts: ({ tokenId, userId }) => ({ target: token(tokenId), values: { revoked: true }, details: { userId } }),
  },
};

const organizations: AuditRules<OrganizationEvent> = {
  OrganizationCreated: {
    action: 'organization.created',
    label: 'Organization created',
    facts: ({ title, emailDomains }) => ({ values: { title, emailDomains } }),
  },
  MemberJoined: {
    action: 'member.joined',
    label: 'Member joined',
    facts: ({ userId, role }) => ({ target: member(userId), values: { role: role ?? 'guest' } }),
  },
  MemberRoleChanged: {
    action: 'member.role-changed',
    label: 'Role of a member changed',
    facts: ({ userId, role }) => ({ target: member(userId), values: { role: role ?? 'guest' } }),
  },
  OrganizationUpdated: {
    action: 'organization.updated',
    label: 'Organization settings changed',
    facts: ({ changes: { hostname, ...changes } }) => ({
      values: { ...changes, ...(hostname === undefined ? {} : { hostname: hostname.name }) },
    }),
  },
  MemberSsoChanged: {
    action: 'member.sso-changed',
    label: 'Single sign-on of a member changed',
    facts: ({ userId, sso }) => ({ target: member(userId), values: { sso } }),
  },
  MemberRemoved: {
    action: 'member.removed',
    label: 'Member left or removed',
    facts: ({ userId, role }) => ({ target: member(userId), details: { role: role ?? 'guest' } }),
  },
};

const subdomains: AuditRules<SubdomainEvent> = {
  SubdomainClaimed: { skip: 'Half of a change of the hostname, which has an entry of its own.' },
  SubdomainReleased: { skip: 'Half of a change of the hostname, which has an entry of its own.' },
};

const agentInstructions: AuditRules<AgentInstructionsUpdated> = {
  AgentInstructionsUpdated: {
    action: 'agent-instructions.updated',
    label: 'Agent instructions changed',
    facts: ({ version }) => ({ details: { version } }),
  },
};

const teams: AuditRules<TeamEvent> = {
  TeamCreated: { action: 'team.created', label: 'Team created', facts: ({ title }) => ({ values: { title } }) },
  TeamRenamed: { action: 'team.renamed', label: 'Team renamed', facts: ({ title }) => ({ values: { title } }) },
  TeamMembersAdded: {
    action: 'team.members-added',
    label: 'People added to a team',
    facts: ({ members }) => ({ details: { members } }),
  },
  TeamMemberRolesChanged: {
    action: 'team.member-roles-changed',
    label: 'Roles in a team changed',
    facts: ({ members }) => ({ details: { members } }),
  },
  TeamMembersRemoved: {
    action: 'team.members-removed',
    label: 'People removed from a team',
    facts: ({ userIds }) => ({ details: { userIds } }),
  },
  TeamDeleted: { action: 'team.deleted', label: 'Team deleted', facts: () => ({ values: { deleted: true } }) },
};

const sessions: AuditRules<SessionEvent> = {
  SessionStarted: {
    action: 'session.started',
    label: 'Signed in',
    facts: ({ userId, sessionId, method, expiresAt }) => ({
      target: { type: 'session', id: sessionId },
      values: { expiresAt },
      details: { userId, method },
    }),
  },
  SessionsEnded: {
    action: 'session.ended',
    label: 'Signed out',
    facts: ({ userId, sessionIds, reason }) => ({
      target: { type: 'user', id: userId },
      details: { sessionIds, reason },
    }),
  },
};

const instance: AuditRules<InstanceEvent> = {
  InstanceInitialized: { action: 'instance.initialized', label: 'Instance set up' },
};

const denials: AuditRules<DenialEvent> = {
  AccessDenied: {
    action: 'access.denied',
    label: 'Access denied',
    facts: (data) => ({
      target: { type: data.targetType, id: data.targetId },
      actor: { kind: 'user', id: data.actorId },
      tokenId: data.tokenId,
      origin: data.origin,
      details: {
        status: Number(data.status),
        code: data.code,
        operation: data.operation,
        count: data.count,
        firstAt: data.firstAt,
        lastAt: data.lastAt,
        ...(data.network === undefined ? {} : { network: data.network }),
      },
    }),
  },
};

const recoveries: AuditRules<RecoveryEvent> = {
  RecoveryAsked: {
    action: 'recovery.asked',
    label: 'Release of parked work asked for',
    facts: ({ kind, target, service, owner, topic, attempts }) => ({
      target: { type: kind, id: target },
      details: { service, owner, attempts, ...(topic === undefined ? {} : { topic }) },
    }),
  },
  DiscardAsked: {
    action: 'recovery.discard-asked',
    label: 'Discard of a message asked for',
    facts: ({ kind, target, service, owner, topic, attempts, partition, offset, reason }) => ({
      target: { type: kind, id: target },
      details: { service, owner, topic, attempts, partition, offset, reason },
    }),
  },
  ForgetAsked: {
    action: 'recovery.forget-asked',
    label: 'Forgetting of a parked key asked for',
    facts: ({ kind, target, service, owner, topic, attempts, letters, since, reason }) => ({
      target: { type: kind, id: target },
      details: { service, owner, topic, attempts, letters, since, reason },
    }),
  },
};

/** How every event of identity stands in the audit. */
export const identityAuditRules = auditRules(
  users,
  emails,
  credentials,
  passwordRules,
  failureRules,
  externalIdentityRules,
  samlRules,
  sessions,
  organizations,
  inviteRules,
  subdomains,
  agentInstructions,
  teams,
  instance,
  denials,
  recoveries,
);
