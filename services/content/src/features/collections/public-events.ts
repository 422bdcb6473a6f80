import { contentAccessEvents as catalogue } from '@bindery/contracts';
import type { PublicEvent } from '@bindery/event-sourcing';
import { say } from '../../shared/say.ts';
import type { CollectionEvent } from './events.ts';

/** What others hear about collections. */
export const collectionPublicEvents = (event: CollectionEvent): readonly PublicEvent[] => {
  const { organizationId } = event.data;
  switch (event.type) {
    case 'CollectionCreated': {
      const { collectionId, parent, createdBy, createdAt } = event.data;
      return say(catalogue.collectionCreated, collectionId, {
        organizationId,
        collectionId,
        parent,
        createdBy,
        createdAt,
      });
    }
    case 'CollectionChanged': {
      const { collectionId, changedBy, changedAt } = event.data;
      const names = ['title', 'description', 'defaultLevel'] as const;
      const fields = names.filter((name) => event.data[name] !== undefined);
      return say(catalogue.collectionChanged, collectionId, {
        organizationId,
        collectionId,
        fields,
        changedBy,
        changedAt,
      });
    }
    case 'CollectionMoved': {
      const { collectionId, parent, movedBy, movedAt } = event.data;
      return say(catalogue.collectionMoved, collectionId, { organizationId, collectionId, parent, movedBy, movedAt });
    }
    case 'CollectionDeleted': {
      const { collectionId, deletedBy, deletedAt } = event.data;
      const collections = event.data.collections.map((it) => it.collectionId);
      const facts = { organizationId, collectionId, collections, deletedBy, deletedAt };
      return say(catalogue.collectionDeleted, collectionId, facts);
    }
    case 'CollectionsSent': {
      const { to, collectionIds, sentBy, sentAt } = event.data;
      const facts = { organizationId, to, collections: [...collectionIds] };
      const by = { transferredBy: sentBy, transferredAt: sentAt };
      return say(catalogue.collectionTransferred, collectionIds[0] ?? organizationId, { ...facts, ...by });
    }
    default:
      return [];
  }
};
