import type { CollectionSpec, ReadStore } from '@bindery/read-store';

/** One empty place for data (a file, a database) that may be opened again and by several handles. */
export interface ReadStorePlace {
  open(): Promise<ReadStore>;
  /** Removes the data; every handle is closed by then. */
  dispose(): Promise<void>;
}

/** What an adapter gives to its conformance suite. */
export interface ReadStoreHarness {
  createPlace(): Promise<ReadStorePlace>;
  /** Documents of the test of scale, default 100,000. */
  readonly manyDocuments?: number;
  /**
   * Why writes to one document at the same time prove nothing here: the server changes it by reading and replacing it
   * (PITFALLS 43). Tests of guards under concurrency are skipped then, with this in their names.
   */
  readonly notAtomic?: string;
}

/** Documents of the suite. */
export interface Sample {
  readonly [field: string]: unknown;
}

/** A collection with one index of each kind. */
export const sampleSpec: CollectionSpec = {
  name: 'testing.samples',
  version: 1,
  indexes: [
    { name: 'by_space', fields: ['spaceId', 'createdAt'] },
    { name: 'by_title', fields: ['title', 'rank'] },
    { name: 'by_rank', fields: ['rank', 'title'] },
    { name: 'by_owner', fields: ['owner.id'] },
    { name: 'by_flag', fields: ['flag'] },
    { name: 'slug', fields: ['spaceId', 'slug'], unique: true },
    { name: 'by_label', fields: ['labels'], multi: true },
    { name: 'by_reviewer', fields: ['reviews.userId'], multi: true },
  ],
};

/** Runs `work` with a store of its own, closed and removed afterwards. */
export const withStore = async (
  harness: ReadStoreHarness,
  work: (store: ReadStore, place: ReadStorePlace) => Promise<void>,
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

/** Everything of an iterable. */
export const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
};
