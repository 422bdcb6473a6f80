import type { Principal } from '@bindery/service-kit';
import type { Epochs } from '../../shared/epochs.ts';
import type { TolerantCache } from '../../shared/tolerant-cache.ts';
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

/** A principal, and while what it may be used again: as long as the cache has the value under the key. */
export interface Held {
  readonly principal: Principal;
  readonly holds?: { readonly key: string; readonly value: string; readonly until: number | null };
}

interface Entry extends Resolved {
  /** What the epoch of the user was before the entry was loaded. */
  readonly epoch: string;
}

/**
 * Turns token hashes into principals, remembering them under the epoch of their user: a change of the user's tokens,
 * memberships or rights replaces it, so that the next request is decided on what is true then.
 */
export interface Principals {
  /** null: the token is unknown, revoked or expired. */
  resolve(tokenHash: string, now: Date): Promise<Principal | null>;
  /** The same, with what must stay true for the answer to be used again. */
  resolveHeld(tokenHash: string, now: Date): Promise<Held | null>;
  /** Voids all that is remembered about a user. */
  forget(userId: string): Promise<void>;
}

/** The last net, should a change not reach the cache: no principal is older than this. */
const entryTtlMs = 30_000;

const epochOf = (userId: string): string => `user:${userId}`;

export const createPrincipals = (deps: {
  /** What the secrets are; one kind never stands in for the other. */
  readonly kind: 'token' | 'session';
  readonly cache: TolerantCache;
  readonly epochs: Epochs;
  readonly usage: TokenUsage;
  readonly load: LoadPrincipal;
}): Principals => {
  const { kind, cache, epochs, usage, load } = deps;
  const entryKey = (hash: string): string => `identity:principal:${kind}:${hash}`;

  const loadAnew = async (tokenHash: string): Promise<(Resolved & Partial<Entry>) | undefined> => {
    const owner = await load.owner(tokenHash);
    if (owner === undefined) return undefined;
    const epoch = await epochs.current(epochOf(owner));
    const resolved = await load.all(tokenHash);
    if (resolved === undefined) return undefined;
    // Not remembered when the token changed hands meanwhile: the epoch is that of the former owner.
    if (resolved.principal.id === owner) {
      const entry: Entry = { ...resolved, epoch };
      await cache.set(entryKey(tokenHash), entry, { ttlMs: entryTtlMs });
      return entry;
    }
    return resolved;
  };
  const resolveHeld = async (tokenHash: string, now: Date): Promise<Held | null> => {
    const entry = await cache.get<Entry>(entryKey(tokenHash));
    const valid = entry !== undefined && entry.epoch === (await epochs.peek(epochOf(entry.principal.id)));
    const isOver = ({ expiresAt }: Resolved): boolean => expiresAt !== null && expiresAt <= now.getTime();
    // One that is over is looked at again: a session that was used meanwhile goes on.
    const resolved = valid && !isOver(entry) ? entry : await loadAnew(tokenHash);
    if (resolved === undefined || isOver(resolved)) return null;
    const { principal, expiresAt, epoch } = resolved;
    usage.note(principal.tokenId, now);
    if (epoch === undefined) return { principal };
    return { principal, holds: { key: epochs.keyOf(epochOf(principal.id)), value: epoch, until: expiresAt } };
  };

  return {
    resolve: async (tokenHash, now) => (await resolveHeld(tokenHash, now))?.principal ?? null,
    resolveHeld,
    forget: (userId) => epochs.replace(epochOf(userId)),
  };
};
