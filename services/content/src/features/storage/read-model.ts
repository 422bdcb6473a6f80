import { documentPerStream, type LiveCollection, type Projection } from '@bindery/event-sourcing';
import type { Collection, CollectionSpec } from '@bindery/read-store';
import { storageUploadAggregate } from './aggregate.ts';
import type { StorageUploadEvent } from './events.ts';

/** An upload, as stored for the purger and for counting. */
export interface StorageUploadDocument {
  readonly organizationId: string;
  readonly uploader: string;
  /** Not purged. */
  readonly active: boolean;
  /** ISO time from which it is purged; null once it was. */
  readonly purgeAt: string | null;
}

export const storageUploadsCollection: CollectionSpec = {
  name: 'content.storage_uploads',
  version: 1,
  indexes: [
    { name: 'by_purge', fields: ['purgeAt'] },
    { name: 'by_uploader', fields: ['uploader', 'organizationId', 'active'] },
  ],
};
export type StorageUploads = Pick<Collection<StorageUploadDocument>, 'query' | 'count'>;
export const openStorageUploads = (live: LiveCollection): StorageUploads =>
  live<StorageUploadDocument>(storageUploadsCollection);

/** `content.storage_uploads`: one document per upload. */
export const storageUploadsProjection: Projection = documentPerStream<StorageUploadEvent, StorageUploadDocument>({
  name: 'storage-uploads',
  aggregate: storageUploadAggregate.name,
  collection: storageUploadsCollection,
  handles: ['StorageUploadRequested', 'StorageFileUploaded', 'StorageUploadPurged'],
  evolve(document, recorded) {
    const event = recorded as unknown as StorageUploadEvent;
    if (event.type === 'StorageUploadRequested') {
      const { organizationId, uploader, expiresAt } = event.data;
      return { organizationId, uploader, active: true, purgeAt: expiresAt };
    }
    if (document === undefined) return undefined;
    if (event.type === 'StorageFileUploaded') return { ...document, purgeAt: event.data.keptUntil };
    return { ...document, active: false, purgeAt: null };
  },
});
