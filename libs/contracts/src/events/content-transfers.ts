import Type from 'typebox';
import { publicEvent } from '../kit/public-event.ts';
import { closed, DateTime, Id, words } from '../kit/schema.ts';

// Names of files and addresses of websites are private.

const key = 'k6Vb2nWq9ZsJf4RtYx8L';
const organizationId = 'o9Fj3sNc7PdHa1TgK6vW';
const user = 'u4Qm2tXz8LkVw0RyB5nE';
const at = '2026-01-31T09:30:00.000Z';
const later = '2026-02-01T09:30:00.000Z';

const storageFileUploaded = publicEvent({
  type: 'bindery.content.storage-file.uploaded.v1',
  owner: 'content',
  summary: 'A file was uploaded, to be used by whoever uploaded it.',
  description: '`keptUntil`: it is deleted afterwards; what used it has a copy.',
  data: closed({
    key: Id(),
    organizationId: Id(),
    kind: words(['customization_font', 'import_file', 'organization_file']),
    contentType: Type.String(),
    size: Type.Integer(),
    uploadedBy: Id(),
    uploadedAt: DateTime,
    keptUntil: DateTime,
  }),
  samples: [
    {
      key,
      organizationId,
      kind: 'import_file',
      contentType: 'application/zip',
      size: 52_144,
      uploadedBy: user,
      uploadedAt: at,
      keptUntil: later,
    },
  ],
});

const storageUploadPurged = publicEvent({
  type: 'bindery.content.storage-file.purged.v1',
  owner: 'content',
  summary: 'An upload was deleted: it did not come in time, or was kept long enough.',
  data: closed({ key: Id(), organizationId: Id(), purgedAt: DateTime }),
  samples: [{ key, organizationId, purgedAt: later }],
});

/** What the content service tells of uploads and imports. */
export const contentTransferEvents = {
  storageFileUploaded,
  storageUploadPurged,
};
