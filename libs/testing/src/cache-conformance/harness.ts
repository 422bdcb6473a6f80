import type { Cache } from '@bindery/cache';

/** An empty cache that several handles may share. */
export interface CachePlace {
  /** A handle; in-memory adapters may give the same one each time. */
  open(): Promise<Cache>;
  /** Lets this much of the cache's time pass: moves an injected clock, or waits until a real one has moved. */
  elapse(ms: number): Promise<void>;
  dispose(): Promise<void>;
}

/** What an adapter gives to its conformance suite. */
export interface CacheHarness {
  createPlace(): Promise<CachePlace>;
}

/** Runs `work` with a place of its own and two handles, closed and removed afterwards. */
export const withCaches = async (
  harness: CacheHarness,
  work: (caches: { readonly cache: Cache; readonly other: Cache; readonly place: CachePlace }) => Promise<void>,
): Promise<void> => {
  const place = await harness.createPlace();
  const [cache, other] = [await place.open(), await place.open()];
  try {
    await work({ cache, other, place });
  } finally {
    await cache.close();
    await other.close();
    await place.dispose();
  }
};
