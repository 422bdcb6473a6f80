import type { Reactor, Recorded } from '@bindery/event-sourcing';
import { collectionsAggregate } from '../aggregate.ts';
import type { CollectionEvent } from '../events.ts';
import { type Cause, deleteSpacesIn, metadataOf, transferSpacesIn } from '../stray.ts';
import { carryThrough, type TransferDeps } from '../transfers.ts';

const causeOf = (event: Recorded<CollectionEvent>, by: string, at: string): Cause => {
  const { correlationId, actor } = event.metadata;
  return { by, at, metadata: metadataOf(event.id, actor, new Date(at), correlationId) };
};

/**
 * Does what follows from the end of a collection: the request does so too, and this one finishes what it left undone.
 */
export const collectionReactor = (deps: () => TransferDeps): Reactor<CollectionEvent> => ({
  name: 'ended-collections',
  aggregates: [collectionsAggregate.name],
  handles: ['CollectionDeleted', 'CollectionTransferStarted', 'CollectionsSent'],
  async react(event) {
    switch (event.type) {
      case 'CollectionDeleted': {
        const { organizationId, collections, deletedBy, deletedAt } = event.data;
        const ids = collections.map(({ collectionId }) => collectionId);
        return deleteSpacesIn(deps(), organizationId, ids, causeOf(event, deletedBy, deletedAt));
      }
      case 'CollectionTransferStarted': {
        const { transferId, organizationId: from, to, collections, startedBy, startedAt } = event.data;
        return carryThrough(deps(), { transferId, from, to, collections }, causeOf(event, startedBy, startedAt));
      }
      case 'CollectionsSent': {
        const { organizationId: from, to, collectionIds, sentBy, sentAt } = event.data;
        return transferSpacesIn(deps(), { from, to }, collectionIds, causeOf(event, sentBy, sentAt));
      }
      default:
    }
  },
});
