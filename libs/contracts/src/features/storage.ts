import Type, { type Static } from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, Id, Uri, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';

/** What uploads are for. */
export const storageUploadKinds = ['customization_font', 'import_file', 'organization_file'] as const;
export type StorageUploadKind = (typeof storageUploadKinds)[number];

/** What the caller says of the file that it is going to upload (resources section 29). */
export const StorageFileMetadata = component(
  'StorageFileMetadata',
  closed({
    name: Type.String({ minLength: 1, maxLength: limits.file.name, pattern: '^[^\\u0000-\\u001F\\u007F]*$' }),
    type: Type.String({ minLength: 1, maxLength: 256, description: 'Media type; the bytes must be of it.' }),
    size: Type.Integer({
      minimum: 1,
      maximum: Math.max(...Object.values(limits.storage.bytes)),
      description: 'Bytes; exactly as many must come.',
    }),
  }),
);

/** Where a file is uploaded to, and the key that names it afterwards (gaps-filled section 10). */
export const StorageUploadURL = component(
  'StorageUploadURL',
  closed({
    object: Type.Literal('storage-signed-url'),
    url: Uri,
    key: Id('Names the upload; `insert_files` takes the `url`.'),
  }),
);
export type StorageUploadURL = Static<typeof StorageUploadURL>;

/** Uploads beside the JSON contract. */
export const storageOperations = {
  generateStorageUploadURL: operation({
    id: 'generateStorageUploadURL',
    owner: 'content',
    surface: 'public',
    method: 'POST',
    path: '/orgs/{organizationId}/storage/upload',
    tag: 'Storage',
    summary: 'Get an address to upload a file to',
    description: `PUT the bytes to \`url\` within ${limits.storage.validMinutes} minutes, once. Only the caller can use the file, and within ${limits.storage.keptHours} hours.`,
    access: 'organization:edit',
    params: closed({ organizationId: Id() }),
    body: closed({ file: StorageFileMetadata, kind: words(storageUploadKinds) }),
    success: { 201: StorageUploadURL },
  }),
};
