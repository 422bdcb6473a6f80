import { createHash } from 'node:crypto';
import type { EventDataOf, inviteEvents } from '@bindery/contracts';
import { assertNever, type PublicEvent } from '@bindery/event-sourcing';
import type { InviteLinkEvent, LinkGrant } from './links/events.ts';
import type { InvitationEvent } from './pending/events.ts';

type Catalogue = typeof inviteEvents;

const published = <K extends keyof Catalogue>(
  type: Catalogue[K]['type'],
  data: EventDataOf<Catalogue[K]>,
): readonly PublicEvent[] => [{ type, subject: data.organizationId, data: { ...data } }];

/** Stands for a link in public: from it nobody gets to the id, which lets people in. */
export const linkReference = (inviteId: string): string =>
  createHash('sha256').update(`invite-link:${inviteId}`).digest('hex').slice(0, 32);

const target = (organizationId: string, grant: LinkGrant) => ({
  role: grant.role,
  target: grant.kind,
  targetId: grant.kind === 'organization' ? organizationId : grant.id,
});

/** What others learn of invites: neither the ids of links nor addresses. */
export const invitePublicEvents = (event: InviteLinkEvent | InvitationEvent): readonly PublicEvent[] => {
  switch (event.type) {
    case 'InviteLinkCreated': {
      const { organizationId, inviteId, grant, createdBy, createdAt } = event.data;
      const data = { organizationId, reference: linkReference(inviteId), ...target(organizationId, grant) };
      const type = 'bindery.identity.invite-link.created.v1';
      return published<'inviteLinkCreated'>(type, { ...data, createdBy, createdAt });
    }
    case 'InviteLinkChanged': {
      const { organizationId, inviteId, grant, changedAt } = event.data;
      const data = { organizationId, reference: linkReference(inviteId), ...target(organizationId, grant) };
      return published<'inviteLinkChanged'>('bindery.identity.invite-link.changed.v1', { ...data, changedAt });
    }
    case 'InviteLinkDeleted': {
      const { organizationId, inviteId, deletedAt } = event.data;
      const data = { organizationId, reference: linkReference(inviteId), deletedAt };
      return published<'inviteLinkDeleted'>('bindery.identity.invite-link.deleted.v1', data);
    }
    case 'EmailInvited': {
      const { organizationId, invitationId, role, invitedBy, invitedAt } = event.data;
      const data = { organizationId, invitationId, role, invitedBy, invitedAt };
      return published<'invitationCreated'>('bindery.identity.invitation.created.v1', data);
    }
    case 'InvitationChanged': {
      const { organizationId, invitationId, role, changedAt } = event.data;
      const data = { organizationId, invitationId, role, changedAt };
      return published<'invitationChanged'>('bindery.identity.invitation.changed.v1', data);
    }
    case 'InvitationAccepted': {
      const { organizationId, invitationId, userId, acceptedAt } = event.data;
      const data = { organizationId, invitationId, userId, acceptedAt };
      return published<'invitationAccepted'>('bindery.identity.invitation.accepted.v1', data);
    }
    case 'InvitationWithdrawn': {
      const { organizationId, invitationId, withdrawnAt } = event.data;
      const data = { organizationId, invitationId, withdrawnAt };
      return published<'invitationWithdrawn'>('bindery.identity.invitation.withdrawn.v1', data);
    }
    default:
      return assertNever(event);
  }
};
