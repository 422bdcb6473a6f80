import { documentsPerEvent, type LiveCollection, type Projection } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import { invitationsAggregateName } from './decider.ts';
import type { InvitationEvent } from './events.ts';

/** Where an invitation that waits is found. Without the address: nobody lists those. */
export interface InvitationDocument {
  readonly id: string;
  readonly organizationId: string;
  readonly emailDigest: string;
}

/** Invitations that wait, by id. */
export const invitationCollection: CollectionSpec = { name: 'identity.invitations', version: 1, indexes: [] };

export const invitationsProjection: Projection = documentsPerEvent<InvitationEvent>({
  name: 'invitations',
  aggregates: [invitationsAggregateName],
  collections: [invitationCollection],
  handles: ['EmailInvited', 'InvitationAccepted', 'InvitationWithdrawn'],
  toDocuments: ({ type, data }) => {
    const { invitationId: id, organizationId, emailDigest } = data;
    const document: InvitationDocument | null = type === 'EmailInvited' ? { id, organizationId, emailDigest } : null;
    return [{ collection: invitationCollection, id, document }];
  },
});

export const openInvitations = (live: LiveCollection) => live<InvitationDocument>(invitationCollection);
export type LiveInvitations = () => ReturnType<typeof openInvitations>;
