import type { DomainEvent, Reactor, Recorded } from '@bindery/event-sourcing';
import type { KeyStore } from '../../../shared/key-store.ts';
import { invitationsAggregateName } from '../pending/decider.ts';
import { type InvitationEvent, invitationKey } from '../pending/events.ts';

/** Erases the address of an invitation that has ended, should the request that ended it not have come to that. */
export const destroyInvitationKeysReactor = (keys: KeyStore): Reactor => ({
  name: 'destroy-invitation-keys',
  aggregates: [invitationsAggregateName],
  handles: ['InvitationAccepted', 'InvitationWithdrawn'],
  react: async (event: Recorded<DomainEvent>) => {
    const { data } = event as Recorded<InvitationEvent>;
    await keys.destroy(invitationKey(data.invitationId));
  },
});
