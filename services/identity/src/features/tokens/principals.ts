import { randomUUID } from 'node:crypto';
import type { Cache } from '@bindery/cache';
import type { Principal } from '@bindery/service-kit';
import type { TokenUsage } from './usage.ts';

/** A principal and until when its token makes one. */
export interface Resolved {
  readonly principal: Principal;
  /** Milliseconds since 1970; null: no end. */
  readonly expiresAt: number | null;
}

/** Reads principals from the read models. */
export interface LoadPrincipal {
  /** Whose token it is; undefined when there is no such token. */
  owner(tokenHash: string): Promise<string | undefined>;
  /** Token, memberships and rights. */
  all(tokenHash: string): Promise<Resolved | undefined>;
}

interface Entry extends Resolved {
  /** What the epoch of the user was before the entry was loaded. */
  readonly epoch: string;
}

/**
 * Turns token hashes into principals, remembering them. Every user has an epoch, a random word in the cache; an entry
 * counts only while the epoch is the one it was loaded under. A change of the user's tokens, memberships or rights
 * replaces the epoch after its documents are written and before it is acknowledged, so the next request loads anew. A
 * load that raced with the change read the old epoch and is thus void; a lost epoch (the cache may forget) voids too.
 */
export interface Principals {
  /** null: the token is unknown, revoked or expired. */
  resolve(tokenHash: string, now: Date): Promise<Principal | null>;
  /** Voids all that is remembered about a user. */
  forget(userId: string): Promise<void>;
}

const day = 86_400_000;
/** The last net, should a change not reach the cache: no principal is older than this. */
const entryTtlMs = 30_000;

const entryKey = (tokenHash: string): string => `identity:principal:${tokenHash}`;
const epochKey = (userId: string): string => `identity:epoch:${userId}`;

export const createPrincipals = (deps: {
  readonly cache: Cache;
  readonly usage: TokenUsage;
  readonly load: LoadPrincipal;
}): Principals => {
  const { cache, usage, load } = deps;

  const epochOf = async (userId: string): Promise<string> => {
    const known = await cache.get<string>(epochKey(userId));
    if (known !== undefined) return known;
    const fresh = randomUUID();
    await cache.set(epochKey(userId), fresh, { ttlMs: day });
    return fresh;
  };

  const loadAnew = async (tokenHash: string): Promise<Resolved | undefined> => {
    const owner = await load.owner(tokenHash);
    if (owner === undefined) return undefined;
    const epoch = await epochOf(owner);
    const resolved = await load.all(tokenHash);
    if (resolved === undefined) return undefined;
    // Not remembered when the token changed hands meanwhile: the epoch is that of the former owner.
    if (resolved.principal.id === owner) {
      const entry: Entry = { ...resolved, epoch };
      await cache.set(entryKey(tokenHash), entry, { ttlMs: entryTtlMs });
    }
    return resolved;
  };

  return {
    async resolve(tokenHash, now) {
      const entry = await cache.get<Entry>(entryKey(tokenHash));
      const valid = entry !== undefined && entry.epoch === (await cache.get<string>(epochKey(entry.principal.id)));
      const resolved = valid ? entry : await loadAnew(tokenHash);
      if (resolved === undefined) return null;
      if (resolved.expiresAt !== null && resolved.expiresAt <= now.getTime()) return null;
      usage.note(resolved.principal.tokenId, now);
      return resolved.principal;
    },
    async forget(userId) {
      await cache.set(epochKey(userId), randomUUID(), { ttlMs: day });
    },
  };
};
