import type { KeyObject } from 'node:crypto';
import type { Collection, CollectionSpec, ReadStore } from '@bindery/read-store';
import { keyCheckCollection, keyCheckId, keyFrom, notFound, WrongMasterKey } from '@bindery/service-kit';
import { newKey, type Vault } from './vault.ts';

/**
 * The keys of users, kept outside the event store so that destroying one erases what it sealed (DESIGN section 4).
 * Keys are never copied anywhere else; losing this store loses the personal data of everybody.
 */
export interface KeyStore {
  /** The key of a user, made when there is none. @throws Problem not-found when it was destroyed: nobody gets a second one */
  ensure(userId: string): Promise<KeyObject>;
  /** undefined: never made or destroyed (elsewhere: at most `freshMs` ago it still was). */
  get(userId: string): Promise<KeyObject | undefined>;
  /** Ends the key: nothing gives it any more, nor makes another one. Destroying what is not there is fine. */
  destroy(userId: string): Promise<void>;
  /** Leaves nothing of destroyed keys in the files. */
  scrub(): Promise<void>;
}

interface KeyDocument {
  readonly userId: string;
  /** The key, encrypted under what is derived from the instance key; null: destroyed. */
  readonly wrapped: string | null;
}

/** Where the keys are; a collection that no event feeds, in a store of its own. */
export const keyCollection: CollectionSpec = {
  name: 'identity.keys',
  version: 1,
  indexes: [{ name: 'by-user', fields: ['userId'] }],
};

/** The first start wraps a known text, which tells at every later one that the keys of users can be unwrapped. */
const checkKeys = async (store: ReadStore, vault: Vault): Promise<void> => {
  const collection = await store.collection<{ readonly wrapped: string }>(keyCheckCollection);
  const wrapped = vault.wrap(keyFrom(Buffer.from(keyCheckId)), keyCheckId);
  if (await collection.compareAndPut(keyCheckId, -1, { wrapped })) return;
  const stored = await collection.get(keyCheckId);
  try {
    vault.unwrap(stored?.document.wrapped ?? '', keyCheckId);
  } catch (cause) {
    throw new WrongMasterKey('the keys of users were written under another instance key', { cause });
  }
};

/** How the keys in memory are kept. */
export interface KeyStoreOptions {
  /**
   * How long a key in memory is used before the store is asked again whether it still exists, in ms, default 5000: the
   * longest that a process can read the data of a person who was erased in another one.
   */
  readonly freshMs?: number;
  /** Monotonic, in ms; it goes on while the process is stopped. Default `performance.now`. */
  readonly now?: () => number;
}

interface Held {
  readonly key: KeyObject;
  /** As it was stored when it was unwrapped. */
  readonly wrapped: string;
  /** When the store was last asked, before it answered. */
  readonly askedAt: number;
}

const cachedKeys = 20_000;

/**
 * Keys in a read store of their own (`keys.db` in the embedded profile), which replicas share.
 * Unwrapped keys of the last 20,000 users are held in memory: replaying events would otherwise unwrap once per event. They
 * are good for five seconds, then the store is asked again, since another process may have destroyed them; while it cannot
 * be asked, there are no keys.
 * @throws WrongMasterKey
 */
export const createKeyStore = async (
  store: ReadStore,
  vault: Vault,
  options: KeyStoreOptions = {},
): Promise<KeyStore> => {
  const { freshMs = 5000, now = () => performance.now() } = options;
  await checkKeys(store, vault);
  const collection: Collection<KeyDocument> = await store.collection<KeyDocument>(keyCollection);
  const cache = new Map<string, Held>();
  /** Keys that this process destroyed: an answer from before must not bring one back. */
  let destroyed = 0;
  const remember = (userId: string, held: Held): KeyObject => {
    // Also when it is only newer: the first of the map is the one that was not asked for longest.
    cache.delete(userId);
    const oldest = cache.keys().next();
    if (cache.size >= cachedKeys && !oldest.done) cache.delete(oldest.value);
    cache.set(userId, held);
    return held.key;
  };
  const get = async (userId: string): Promise<KeyObject | undefined> => {
    const known = cache.get(userId);
    const askedAt = now();
    if (known !== undefined && askedAt - known.askedAt < freshMs) return known.key;
    const before = destroyed;
    const wrapped = (await collection.get(userId))?.document.wrapped;
    if (wrapped === undefined || wrapped === null) {
      cache.delete(userId);
      return undefined;
    }
    const key = known?.wrapped === wrapped ? known.key : vault.unwrap(wrapped, userId);
    return before === destroyed ? remember(userId, { key, wrapped, askedAt }) : key;
  };
  return {
    get,
    async ensure(userId) {
      const existing = await get(userId);
      if (existing !== undefined) return existing;
      const key = newKey();
      const wrapped = vault.wrap(key, userId);
      const before = destroyed;
      const askedAt = now();
      if (await collection.compareAndPut(userId, -1, { userId, wrapped }))
        return before === destroyed ? remember(userId, { key, wrapped, askedAt }) : key;
      const winner = await get(userId);
      if (winner === undefined) throw notFound('user');
      return winner;
    },
    async destroy(userId) {
      for (;;) {
        const stored = await collection.get(userId);
        if (stored?.document.wrapped === null) break;
        if (await collection.compareAndPut(userId, stored?.revision ?? -1, { userId, wrapped: null })) break;
      }
      destroyed += 1;
      cache.delete(userId);
    },
    scrub: () => store.scrub(),
  };
};
