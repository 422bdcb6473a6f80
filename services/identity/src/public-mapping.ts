import type { EventDataOf, identityEvents } from '@bindery/contracts';
import {
  type DomainEvent,
  ignoreUnknown,
  type PublicEvent,
  type PublicMapping,
  type Recorded,
} from '@bindery/event-sourcing';
import type { AgentInstructionsUpdated } from './features/agent-instructions/index.ts';
import type { DenialEvent } from './features/denials/index.ts';
import type { EmailEvent } from './features/emails/index.ts';
import type { InstanceEvent } from './features/instance/index.ts';
import { type InvitationEvent, type InviteLinkEvent, invitePublicEvents } from './features/invites/index.ts';
import type { ExternalIdentityEvent } from './features/oidc/index.ts';
import type { OrganizationEvent } from './features/organizations/index.ts';
import type { PasswordEvent, SignInFailed } from './features/passwords/index.ts';
import type { RecoveryEvent } from './features/recoveries/index.ts';
import { type AssertionUsed, type LoginEvent, type ProviderEvent, samlPublicEvents } from './features/saml/index.ts';
import type { SessionEvent } from './features/sessions/index.ts';
import type { SubdomainEvent } from './features/subdomains/index.ts';
import { type TeamEvent, teamPublicEvents } from './features/teams/index.ts';
import type { CredentialsEvent } from './features/tokens/index.ts';
import type { UserEvent } from './features/users/index.ts';

type IdentityEvent =
  | AgentInstructionsUpdated
  | SubdomainEvent
  | ProviderEvent
  | LoginEvent
  | AssertionUsed
  | TeamEvent
  | InviteLinkEvent
  | InvitationEvent
  | SessionEvent
  | PasswordEvent
  | SignInFailed
  | ExternalIdentityEvent
  | UserEvent
  | EmailEvent
  | DenialEvent
  | RecoveryEvent
  | CredentialsEvent
  | OrganizationEvent
  | InstanceEvent;
type Catalogue = typeof identityEvents;

/** A public event whose data fits the catalogue, by type. */
const event = <K extends keyof Catalogue>(
  type: Catalogue[K]['type'],
  subject: string,
  data: EventDataOf<Catalogue[K]>,
): readonly PublicEvent[] => [{ type, subject, data: { ...data } }];

/**
 * Domain event -> public event. Sealed data, hashes and the reservation of emails stay inside; whoever needs a name reads
 * the user through the API.
 */
export const publicMapping: PublicMapping = (recorded: Recorded<DomainEvent>) => {
  const domainEvent = recorded as Recorded<IdentityEvent>;
  switch (domainEvent.type) {
    case 'UserRegistered': {
      const { userId, registeredAt } = domainEvent.data;
      return event<'userCreated'>('bindery.identity.user.created.v1', userId, { userId, createdAt: registeredAt });
    }
    case 'UserProfileChanged': {
      const { userId, changedAt } = domainEvent.data;
      return event<'userUpdated'>('bindery.identity.user.updated.v1', userId, { userId, updatedAt: changedAt });
    }
    case 'UserErased': {
      const { userId, erasedAt } = domainEvent.data;
      return event<'userDeleted'>('bindery.identity.user.deleted.v1', userId, { userId, deletedAt: erasedAt });
    }
    case 'OrganizationCreated': {
      const { organizationId, title, createdBy, createdAt } = domainEvent.data;
      const data = { organizationId, title, createdBy, createdAt };
      return event<'organizationCreated'>('bindery.identity.organization.created.v1', organizationId, data);
    }
    case 'OrganizationUpdated': {
      const { organizationId, changes, updatedBy, updatedAt } = domainEvent.data;
      const data = { organizationId, fields: Object.keys(changes).sort(), updatedBy, updatedAt };
      return event<'organizationUpdated'>('bindery.identity.organization.updated.v1', organizationId, data);
    }
    case 'AgentInstructionsUpdated': {
      const { organizationId, updatedBy, updatedAt } = domainEvent.data;
      const data = { organizationId, updatedBy, updatedAt };
      return event<'agentInstructionsUpdated'>('bindery.identity.agent-instructions.updated.v1', organizationId, data);
    }
    case 'MemberRemoved': {
      const { organizationId, userId, removedAt } = domainEvent.data;
      const data = { organizationId, userId, removedAt };
      return event<'memberRemoved'>('bindery.identity.member.removed.v1', organizationId, data);
    }
    case 'MemberSsoChanged': {
      const { organizationId, userId, sso, changedAt } = domainEvent.data;
      const data = { organizationId, userId, sso, changedAt };
      return event<'memberSsoChanged'>('bindery.identity.member.sso-changed.v1', organizationId, data);
    }
    case 'MemberJoined': {
      const { organizationId, userId, role, joinedAt } = domainEvent.data;
      const data = { organizationId, userId, role, joinedAt };
      return event<'memberJoined'>('bindery.identity.member.joined.v1', organizationId, data);
    }
    case 'MemberRoleChanged': {
      const { organizationId, userId, role, previousRole, changedAt } = domainEvent.data;
      const data = { organizationId, userId, role, previousRole, changedAt };
      return event<'memberRoleChanged'>('bindery.identity.member.role-changed.v1', organizationId, data);
    }
    case 'TokenIssued': {
      const { userId, tokenId, issuedAt } = domainEvent.data;
      return event<'tokenCreated'>('bindery.identity.token.created.v1', userId, {
        userId,
        tokenId,
        createdAt: issuedAt,
      });
    }
    case 'TokenRevoked': {
      const { userId, tokenId, revokedAt } = domainEvent.data;
      return event<'tokenRevoked'>('bindery.identity.token.revoked.v1', userId, { userId, tokenId, revokedAt });
    }
    case 'SessionStarted': {
      const { userId, sessionId, method, organizationId, startedAt, expiresAt } = domainEvent.data;
      const data = { userId, sessionId, method, startedAt, expiresAt };
      return event<'sessionStarted'>('bindery.identity.session.started.v1', userId, {
        ...data,
        ...(organizationId === undefined ? {} : { organizationId }),
      });
    }
    case 'SessionsEnded': {
      const { userId, sessionIds, reason, endedAt } = domainEvent.data;
      const data = { userId, sessionIds: [...sessionIds], reason, endedAt };
      return event<'sessionsEnded'>('bindery.identity.session.ended.v1', userId, data);
    }
    case 'InviteLinkCreated':
    case 'InviteLinkChanged':
    case 'InviteLinkDeleted':
    case 'EmailInvited':
    case 'InvitationChanged':
    case 'InvitationAccepted':
    case 'InvitationWithdrawn':
      return invitePublicEvents(domainEvent);
    case 'TeamCreated':
    case 'TeamRenamed':
    case 'TeamMembersAdded':
    case 'TeamMemberRolesChanged':
    case 'TeamMembersRemoved':
    case 'TeamDeleted':
      return teamPublicEvents(domainEvent);
    case 'SamlProviderCreated':
    case 'SamlProviderChanged':
    case 'SamlProviderDeleted':
    case 'SamlLoginAccepted':
    case 'SamlLoginFinished':
    case 'SamlLoginRefused':
    case 'SamlAssertionUsed':
    case 'SsoBypassed':
      return samlPublicEvents(domainEvent);
    case 'PasswordSet': {
      const { userId, setAt: changedAt } = domainEvent.data;
      return event<'passwordChanged'>('bindery.identity.password.changed.v1', userId, { userId, changedAt });
    }
    case 'SignInLinkIssued': {
      const { userId, linkId, issuedAt: createdAt, expiresAt } = domainEvent.data;
      const data = { userId, linkId, createdAt, expiresAt };
      return event<'signInLinkCreated'>('bindery.identity.sign-in-link.created.v1', userId, data);
    }
    case 'SignInFailed': {
      const { userId, reason, failedAt } = domainEvent.data;
      if (userId === undefined) return [];
      return event<'signInFailed'>('bindery.identity.sign-in.failed.v1', userId, { userId, reason, failedAt });
    }
    case 'ExternalIdentityLinked': {
      const { userId, linkedAt } = domainEvent.data;
      return event<'externalIdentityLinked'>('bindery.identity.external-identity.linked.v1', userId, {
        userId,
        linkedAt,
      });
    }
    case 'SignInLinkUsed':
    case 'ExternalIdentityChosen':
    case 'EmailReserved':
    case 'EmailReleased':
    case 'AccessDenied':
    case 'RecoveryAsked':
    case 'DiscardAsked':
    case 'ForgetAsked':
    case 'SubdomainClaimed':
    case 'SubdomainReleased':
    case 'InstanceInitialized':
      return [];
    default:
      return ignoreUnknown([], domainEvent);
  }
};
