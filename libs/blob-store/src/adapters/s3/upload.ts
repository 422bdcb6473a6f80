import { isMissing } from './failures.ts';
import type { S3Requests } from './requests.ts';
import type { Spooled } from './spool.ts';
import { elementsOf, textsOf } from './xml.ts';

const contentType = { 'content-type': 'application/octet-stream' };
const partsAtOnce = 2;

/** One request: it is there whole, or not at all. */
export const uploadAtOnce = async (requests: S3Requests, key: string, spooled: Spooled): Promise<void> => {
  const body = await spooled.read(0, spooled.size);
  await requests.send({ method: 'PUT', key, body, bodySha256: spooled.sha256, headers: contentType });
};

/** In parts of `partBytes`, two at a time; nothing is visible before the last step, and nothing stays when one fails. */
export const uploadInParts = async (
  requests: S3Requests,
  key: string,
  spooled: Spooled,
  partBytes: number,
): Promise<void> => {
  const begun = await requests.send({ method: 'POST', key, query: { uploads: '' }, headers: contentType });
  const [uploadId] = textsOf(begun.text, 'UploadId');
  if (uploadId === undefined) throw new TypeError('the store named no upload');
  try {
    const tags = await uploadParts(requests, { key, uploadId }, spooled, partBytes);
    const parts = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    const last = { method: 'POST', key, query: { uploadId }, body, workBytes: spooled.size } as const;
    await complete(requests, last, spooled.size);
  } catch (error) {
    await abortUpload(requests, key, uploadId).catch(() => undefined); // else the next start clears it away
    throw error;
  }
};

/** An answer that was lost leads to a second attempt, which finds no upload any more: then the object must be there. */
const complete = async (
  requests: S3Requests,
  asked: Parameters<S3Requests['send']>[0] & { readonly key: string },
  size: number,
): Promise<void> => {
  try {
    await requests.send(asked);
  } catch (error) {
    if (!isMissing(error) || (await sizeOf(requests, asked.key)) !== size) throw error;
  }
};

const uploadParts = async (
  requests: S3Requests,
  { key, uploadId }: { readonly key: string; readonly uploadId: string },
  spooled: Spooled,
  partBytes: number,
): Promise<readonly string[]> => {
  const tags = new Array<string>(Math.ceil(spooled.size / partBytes)).fill('');
  const waiting = tags.keys();
  const work = async (): Promise<void> => {
    for (const index of waiting) {
      const body = await spooled.read(index * partBytes, partBytes);
      const query = { partNumber: String(index + 1), uploadId };
      const { headers } = await requests.send({ method: 'PUT', key, query, body });
      if (typeof headers.etag !== 'string') throw new TypeError('the store gave a part no tag');
      tags[index] = headers.etag;
    }
  };
  const done = await Promise.allSettled(Array.from({ length: partsAtOnce }, work));
  for (const result of done) if (result.status === 'rejected') throw result.reason;
  return tags;
};

/** Ends an upload; one that is over already is fine. */
export const abortUpload = async (requests: S3Requests, key: string, uploadId: string): Promise<void> => {
  try {
    await requests.send({ method: 'DELETE', key, query: { uploadId } });
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
};

/** Size of an object in bytes; undefined: there is none. */
export const sizeOf = async (requests: S3Requests, key: string): Promise<number | undefined> => {
  try {
    const { headers } = await requests.send({ method: 'HEAD', key });
    const size = Number(headers['content-length'] ?? Number.NaN);
    // Something between us and the store that compresses what it passes on.
    if (!Number.isSafeInteger(size)) throw new Error('the store did not tell the size of an object');
    return size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

/** Pages of uploads that one start looks at. */
const mostPages = 20;

/** Ends uploads below `prefix` that were begun before `before`: those of processes that were killed. */
export const abortLeftovers = async (requests: S3Requests, prefix: string, before: number): Promise<void> => {
  let marker: Readonly<Record<string, string>> = {};
  for (let page = 0; page < mostPages; page++) {
    const { text } = await requests.send({ method: 'GET', query: { uploads: '', prefix, ...marker } });
    for (const upload of elementsOf(text, 'Upload')) {
      const [key = ''] = textsOf(upload, 'Key');
      const [uploadId = ''] = textsOf(upload, 'UploadId');
      const [initiated = ''] = textsOf(upload, 'Initiated');
      if (key.startsWith(prefix) && Date.parse(initiated) <= before) await abortUpload(requests, key, uploadId);
    }
    const [nextKey] = textsOf(text, 'NextKeyMarker');
    const [nextId] = textsOf(text, 'NextUploadIdMarker');
    if (textsOf(text, 'IsTruncated')[0] !== 'true' || !nextKey || !nextId) return;
    marker = { 'key-marker': nextKey, 'upload-id-marker': nextId };
  }
};
