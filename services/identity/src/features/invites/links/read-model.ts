import { documentPerStream, ignoreUnknown, type LiveCollection, type Projection } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import { inviteLinkAggregateName } from './decider.ts';
import type { InviteLinkEvent, LinkGrant } from './events.ts';

/** A link as it is read. */
export interface InviteLinkDocument {
  readonly id: string;
  readonly organizationId: string;
  readonly grant: LinkGrant;
  readonly createdAt: string;
}

/** Links by id. */
export const inviteLinkCollection: CollectionSpec = {
  name: 'identity.invite-links',
  version: 1,
  indexes: [{ name: 'by-organization', fields: ['organizationId', 'grant.kind', 'createdAt'] }],
};

export const inviteLinksProjection: Projection = documentPerStream<InviteLinkEvent, InviteLinkDocument>({
  name: 'invite-links',
  aggregate: inviteLinkAggregateName,
  collection: inviteLinkCollection,
  handles: ['InviteLinkCreated', 'InviteLinkChanged', 'InviteLinkDeleted'],
  evolve: (document, event) => {
    switch (event.type) {
      case 'InviteLinkCreated': {
        const { inviteId: id, organizationId, grant, createdAt } = event.data;
        return { id, organizationId, grant, createdAt };
      }
      case 'InviteLinkChanged':
        return document === undefined ? undefined : { ...document, grant: event.data.grant };
      case 'InviteLinkDeleted':
        return null;
      default:
        return ignoreUnknown(document, event);
    }
  },
});

export const openInviteLinks = (live: LiveCollection) => live<InviteLinkDocument>(inviteLinkCollection);
export type LiveInviteLinks = () => ReturnType<typeof openInviteLinks>;
