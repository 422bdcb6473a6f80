import type { Collection, CollectionSpec, ReadStore } from '@bindery/read-store';
import type { RepeatedWarnings } from '@bindery/telemetry';

/** When a token or session was last used. No event: it would be the most frequent one, and says nothing about the domain. */
interface UsageDocument {
  /** Of the token or session. */
  readonly id: string;
  readonly lastUsedAt: string;
}

/** Last use by token id; state that no event feeds, written with `compareAndPut`. */
export const usageCollection: CollectionSpec = { name: 'identity.token-usage', version: 1, indexes: [] };

/** The same for sessions, by session id. */
export const sessionUsageCollection: CollectionSpec = {
  name: 'identity.session-usage',
  version: 1,
  indexes: [{ name: 'by-id', fields: ['id'] }],
};

const recordEveryMs = 60_000;
const remembered = 10_000;

/** Records when tokens (or sessions) are used, at most once a minute each, without holding the request up. */
export interface TokenUsage {
  /** Notes a use. Cheap: within a minute of the last note it is one look into a map. */
  note(tokenId: string, now: Date): void;
  lastUsedAt(tokenIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Removes what is known about those that are gone; only where the collection is indexed by id. */
  remove(tokenIds: readonly string[]): Promise<void>;
  /** Waits for what is being written. */
  settle(): Promise<void>;
}

/** @param warnings tells what was not recorded: while the store is away, every use of every token */
export const createTokenUsage = async (
  store: ReadStore,
  warnings: RepeatedWarnings,
  spec: CollectionSpec = usageCollection,
): Promise<TokenUsage> => {
  const collection: Collection<UsageDocument> = await store.collection<UsageDocument>(spec);
  const noted = new Map<string, number>();
  const writing = new Set<Promise<void>>();

  const write = async (tokenId: string, lastUsedAt: string): Promise<void> => {
    try {
      const stored = await collection.get(tokenId);
      if (stored !== undefined && stored.document.lastUsedAt >= lastUsedAt) return;
      // Lost against another replica: that one noted the same minute.
      await collection.compareAndPut(tokenId, stored?.revision ?? -1, { id: tokenId, lastUsedAt });
    } catch (error) {
      warnings.warn(spec.name, 'the last use of a token was not recorded', { tokenId, error });
    }
  };

  return {
    note(tokenId, now) {
      const time = now.getTime();
      const last = noted.get(tokenId);
      if (last !== undefined && time - last < recordEveryMs) return;
      const oldest = noted.keys().next();
      if (last === undefined && noted.size >= remembered && !oldest.done) noted.delete(oldest.value);
      noted.set(tokenId, time);
      const work = write(tokenId, now.toISOString()).finally(() => writing.delete(work));
      writing.add(work);
    },
    async lastUsedAt(tokenIds) {
      const found = await collection.getMany(tokenIds);
      return new Map([...found].map(([id, { document }]) => [id, document.lastUsedAt]));
    },
    async remove(tokenIds) {
      for (const id of tokenIds) {
        noted.delete(id);
        await collection.purge({ id }, 1);
      }
    },
    async settle() {
      await Promise.all(writing);
    },
  };
};
