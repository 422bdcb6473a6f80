import { contentTransferEvents } from '@bindery/contracts';
import type { PublicEvent } from '@bindery/event-sourcing';
import { say } from '../../shared/say.ts';
import type { StorageUploadEvent } from './events.ts';

/** What of uploads others hear about: ids and facts, no names. */
export const storagePublicEvents = (event: StorageUploadEvent): readonly PublicEvent[] => {
  const { key, organizationId } = event.data;
  switch (event.type) {
    case 'StorageFileUploaded': {
      const { kind, contentType, size, uploadedBy, uploadedAt, keptUntil } = event.data;
      const facts = { key, organizationId, kind, contentType, size, uploadedBy, uploadedAt, keptUntil };
      return say(contentTransferEvents.storageFileUploaded, key, facts);
    }
    case 'StorageUploadPurged':
      return say(contentTransferEvents.storageUploadPurged, key, {
        key,
        organizationId,
        purgedAt: event.data.purgedAt,
      });
    default:
      return [];
  }
};
