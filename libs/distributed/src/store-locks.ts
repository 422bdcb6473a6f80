import type { Locks } from '@bindery/event-sourcing';
import type { Collection, CollectionSpec, ReadStore } from '@bindery/read-store';

interface LockDocument {
  /** Empty: nobody. */
  readonly holder: string;
  readonly ttlMs: number;
  /** Grows with every holder. */
  readonly fence: number;
}

const spec: CollectionSpec = { name: 'instance.locks', version: 1, indexes: [] };
/** Locks of others that are watched at a time. */
const maxWatched = 1000;

interface Seen {
  readonly revision: number;
  /** By the monotonic clock. */
  readonly since: number;
}

/**
 * Leases in the read store: what is done under one needs that store anyway, so that no second server must be up for it. No
 * clock is compared with another's (PITFALLS 40): whoever wants a lock that is held takes it when it has watched it for
 * the whole term without a renewal. A lock that nobody watched is therefore taken over one term after somebody first asked.
 * For the few leases of workers: what was once locked stays as a document.
 */
export const openStoreLocks = async (readStore: ReadStore): Promise<Locks> => {
  const locks: Collection<LockDocument> = await readStore.collection<LockDocument>(spec);
  const seen = new Map<string, Seen>();
  /** What this process wrote last of the locks that it holds: a renewal need not read it. */
  const held = new Map<string, { readonly revision: number; readonly document: LockDocument }>();

  const read = async (key: string) => {
    const stored = await locks.get(key);
    return { revision: stored?.revision ?? -1, document: stored?.document };
  };

  const isOver = (key: string, revision: number, ttlMs: number): boolean => {
    const before = seen.get(key);
    if (before?.revision === revision) return performance.now() - before.since >= ttlMs;
    if (seen.size >= maxWatched) seen.delete(seen.keys().next().value ?? '');
    seen.set(key, { revision, since: performance.now() });
    return false;
  };

  return {
    async acquire(key, holder, ttlMs) {
      const { revision, document } = await read(key);
      const taken = document !== undefined && document.holder !== '';
      if (taken && !isOver(key, revision, document.ttlMs)) return undefined;
      const fence = (document?.fence ?? 0) + 1;
      if (!(await locks.compareAndPut(key, revision, { holder, ttlMs, fence }))) return undefined;
      seen.delete(key);
      held.set(key, { revision: revision + 1, document: { holder, ttlMs, fence } });
      return { fence };
    },
    async renew(key, holder, ttlMs) {
      const known = held.get(key);
      held.delete(key);
      const { revision, document } = known?.document.holder === holder ? known : await read(key);
      if (document === undefined || document.holder !== holder) return false;
      const renewed = { ...document, ttlMs };
      if (!(await locks.compareAndPut(key, revision, renewed))) return false;
      held.set(key, { revision: revision + 1, document: renewed });
      return true;
    },
    async release(key, holder) {
      held.delete(key);
      const { revision, document } = await read(key);
      if (document === undefined || document.holder !== holder) return;
      await locks.compareAndPut(key, revision, { ...document, holder: '' });
    },
  };
};
