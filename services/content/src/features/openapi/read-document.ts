import type { BlobStore } from '@bindery/blob-store';
import type { StoredBytes } from './events.ts';

/** Reads the JSON of a version from the blob store. @throws Error when it is not there: nothing removes it */
export const readDocument = async (blobs: BlobStore, { sha256 }: StoredBytes): Promise<object> => {
  const stored = await blobs.get(sha256);
  if (stored === undefined) throw new Error(`a specification is not in the blob store: ${sha256}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of stored.body) chunks.push(chunk);
  // It was checked to be an object, without keys that do harm, before it was stored.
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
};
