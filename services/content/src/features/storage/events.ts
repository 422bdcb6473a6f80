/** What an upload is for; decides on its size and what it may be. */
export type UploadKind = 'customization_font' | 'import_file' | 'organization_file';

/** A file that somebody is going to upload. */
export interface UploadRequest {
  readonly key: string;
  readonly organizationId: string;
  readonly uploader: string;
  readonly kind: UploadKind;
  readonly name: string;
  /** As declared. */
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
  readonly requestedAt: string;
  /** ISO time until which the bytes may come. */
  readonly expiresAt: string;
}

/** Where the bytes of an upload are. */
export interface StoredBytes {
  /** Of the blob: a head of `uploadHeadBytes` random bytes, then the file. */
  readonly blob: string;
  /** As the bytes say. */
  readonly contentType: string;
}

interface Ids {
  readonly key: string;
  readonly organizationId: string;
}

/** Events of `content.storage-<key>`. */
export type StorageUploadEvent =
  | { readonly type: 'StorageUploadRequested'; readonly data: UploadRequest }
  | {
      readonly type: 'StorageFileUploaded';
      readonly data: Ids &
        StoredBytes & {
          readonly kind: UploadKind;
          readonly size: number;
          readonly uploadedBy: string;
          readonly uploadedAt: string;
          /** ISO time after which it is deleted. */
          readonly keptUntil: string;
        };
    }
  | { readonly type: 'StorageUploadPurged'; readonly data: Ids & { readonly purgedAt: string } };
