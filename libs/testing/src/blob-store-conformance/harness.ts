import type { BlobStore } from '@bindery/blob-store';

/** One empty place for blobs that may be opened again and by several handles. */
export interface BlobStorePlace {
  open(): Promise<BlobStore>;
  /** Counts what is stored in any form, unfinished uploads included. */
  countStored(): Promise<number>;
  /** Leaves behind what a process leaves that is killed during a put, old enough to be cleared away. */
  leaveUnfinished(): Promise<void>;
  dispose(): Promise<void>;
}

/** What an adapter gives to its conformance suite. */
export interface BlobStoreHarness {
  createPlace(): Promise<BlobStorePlace>;
}

/** Runs `work` with a store of its own, closed and removed afterwards. */
export const withBlobStore = async (
  harness: BlobStoreHarness,
  work: (store: BlobStore, place: BlobStorePlace) => Promise<void>,
): Promise<void> => {
  const place = await harness.createPlace();
  const store = await place.open();
  try {
    await work(store, place);
  } finally {
    await store.close();
    await place.dispose();
  }
};

/** The whole body, or undefined when the blob is absent. */
export const readAll = async (
  store: BlobStore,
  sha256: string,
  range?: { readonly start: number; readonly end: number },
): Promise<Buffer | undefined> => {
  const found = await store.get(sha256, range);
  if (found === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of found.body) chunks.push(chunk);
  return Buffer.concat(chunks);
};
