import type { AuditRules } from '@bindery/audit';
import type { StorageUploadEvent } from '../storage/index.ts';

/** Of files only what they are, not how they are called. */
export const storageRules: AuditRules<StorageUploadEvent> = {
  StorageUploadRequested: { skip: 'An address to upload to; the upload has the entry.' },
  StorageFileUploaded: {
    action: 'storage-file.uploaded',
    label: 'File uploaded',
    facts: ({ key, kind, contentType, size }) => ({
      target: { type: 'storage-file', id: key },
      details: { kind, contentType, size },
    }),
  },
  StorageUploadPurged: { skip: 'Uploads are deleted by the clock.' },
};
