import type { Collection, CollectionSpec, ReadStore } from '@bindery/read-store';

/**
 * Says of which feeding every search index of the service is to be: each replica has an index of its own, and compares.
 * An index that was fed from read models that are gone (lost, or restored from a backup) is of another feeding too.
 */
export interface SearchRebuilds {
  /** The id of the feeding that is wanted; made when there is none. @throws ReadStoreUnavailable */
  wanted(): Promise<string>;
  /** Wants every index fed anew, in all replicas. @throws ReadStoreUnavailable */
  ask(): Promise<void>;
}

interface Wanted {
  readonly feeding: string;
}

const spec: CollectionSpec = { name: 'content.search-feedings', version: 1, indexes: [] };
const id = 'search';

export const openSearchRebuilds = (readStore: ReadStore, newId: () => string): SearchRebuilds => {
  let opened: Promise<Collection<Wanted>> | undefined;
  const collection = (): Promise<Collection<Wanted>> => {
    opened ??= readStore.collection<Wanted>(spec).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    async wanted() {
      const feedings = await collection();
      for (;;) {
        const stored = await feedings.get(id);
        if (stored !== undefined) return stored.document.feeding;
        await feedings.compareAndPut(id, -1, { feeding: newId() });
      }
    },
    async ask() {
      const feedings = await collection();
      const feeding = newId();
      for (;;) {
        const stored = await feedings.get(id);
        if (await feedings.compareAndPut(id, stored?.revision ?? -1, { feeding })) return;
      }
    },
  };
};

/** How far an index is fed, as it remembers it itself. */
export interface Fed {
  readonly position: number;
  /** undefined: by a release that did not know of feedings. */
  readonly feeding: string | undefined;
}

/** What {@link readFed} reads. */
export const writeFed = (position: number, feeding: string): string => `${position} ${feeding}`;

export const readFed = (text: string): Fed => {
  const [position, feeding] = text.split(' ');
  return { position: Number(position), feeding };
};
