import { randomUUID } from 'node:crypto';
import { openS3BlobStore, type S3BlobStoreOptions } from '../s3.ts';
import { S3Requests } from './requests.ts';
import { elementsOf, textsOf } from './xml.ts';

/** The store that the environment names. */
export const s3FromEnvironment = () => ({
  endpoint: process.env.S3_ENDPOINT ?? '',
  bucket: process.env.S3_BUCKET ?? 'bindery',
  region: process.env.S3_REGION ?? 'us-east-1',
  credentials: {
    accessKeyId: process.env.S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: process.env.S3_SECRET_ACCESS_KEY ?? '',
  },
});

/** Whether there is one. */
export const s3IsHere = (process.env.S3_ENDPOINT ?? '') !== '';

/** A prefix of its own in the bucket. Few objects: one page of each list is looked at. */
export const s3Place = (overrides: Partial<S3BlobStoreOptions> = {}) => {
  const prefix = `test-${randomUUID()}/`;
  const known = s3FromEnvironment();
  const admin = new S3Requests({
    ...known,
    ...{ credentials: async () => known.credentials, pathStyle: true, timeoutMs: 30_000, attempts: 3 },
  });
  const uploads = async () => {
    const { text } = await admin.send({ method: 'GET', query: { uploads: '', prefix } });
    return elementsOf(text, 'Upload').map((upload) => ({
      key: textsOf(upload, 'Key')[0] ?? '',
      uploadId: textsOf(upload, 'UploadId')[0] ?? '',
    }));
  };
  const objects = async (): Promise<readonly string[]> => {
    const { text } = await admin.send({ method: 'GET', query: { 'list-type': '2', prefix } });
    return textsOf(text, 'Key');
  };
  return {
    prefix,
    admin,
    uploads,
    objects,
    // A busy machine is no broken store.
    open: (more: Partial<S3BlobStoreOptions> = {}) =>
      openS3BlobStore({ ...known, prefix, timeoutMs: 30_000, leftoverAgeMs: 0, ...overrides, ...more }),
    countStored: async () => (await uploads()).length + (await objects()).length,
    leaveUnfinished: async () => {
      await admin.send({ method: 'POST', key: `${prefix}${'a'.repeat(64)}`, query: { uploads: '' } });
    },
    dispose: async () => {
      for (const { key, uploadId } of await uploads()) await admin.send({ method: 'DELETE', key, query: { uploadId } });
      for (const key of await objects()) await admin.send({ method: 'DELETE', key });
      await admin.close();
    },
  };
};
