import type { sessionOperations } from '@bindery/contracts';
import type { LiveCollection, Repository } from '@bindery/event-sourcing';
import type { CursorCodec, HandlersFor, Principal, SignedInBy } from '@bindery/service-kit';
import type { Epochs } from '../../shared/epochs.ts';
import type { PersonalDataSealer } from '../../shared/personal-data.ts';
import type { ForgetPrincipal } from '../../shared/ports.ts';
import type { TolerantCache } from '../../shared/tolerant-cache.ts';
import type { SealOrigin } from '../../shared/with-origin.ts';
import { createPrincipals, type TokenUsage } from '../tokens/index.ts';
import type { SessionCommand } from './decider.ts';
import type { SessionEvent } from './events.ts';
import { openSessions, sessionByHash } from './read-model.ts';
import { deleteSessionRoute, listSessionsRoute } from './routes/own-sessions.ts';
import { resolveSessionRoute } from './routes/resolve-session.ts';
import { createSessions, type SessionLifetimes, type Sessions } from './sessions.ts';
import type { SessionsState } from './state.ts';

export interface SessionsFeatureDeps {
  readonly repository: Repository<SessionsState, SessionCommand, SessionEvent>;
  readonly live: LiveCollection;
  readonly cache: TolerantCache;
  readonly epochs: Epochs;
  readonly usage: TokenUsage;
  readonly sealer: PersonalDataSealer;
  readonly cursors: CursorCodec;
  readonly forget: ForgetPrincipal;
  readonly lifetimes: SessionLifetimes;
  readonly sealOrigin: SealOrigin;
  /** Memberships and rights of a user, as a principal; undefined for somebody who was erased. */
  readonly principalOf: (userId: string, tokenId: string, signedInBy: SignedInBy) => Promise<Principal | undefined>;
}

/** Sessions of signed-in browsers: what other features begin and end, and the operations on them. */
export const createSessionsFeature = (
  deps: SessionsFeatureDeps,
): { readonly sessions: Sessions; readonly handlers: HandlersFor<typeof sessionOperations> } => {
  const { usage, lifetimes } = deps;
  const live = () => openSessions(deps.live);
  const sessions = createSessions(deps);
  const principals = createPrincipals({
    kind: 'session',
    cache: deps.cache,
    epochs: deps.epochs,
    usage,
    load: {
      owner: async (hash) => (await sessionByHash(live, hash))?.userId,
      async all(hash) {
        const session = await sessionByHash(live, hash);
        if (session === undefined) return undefined;
        const { id, userId, method, organizationId, createdAt, expiresAt } = session;
        const signedInBy = { method, ...(organizationId === undefined ? {} : { organizationId }) };
        const principal = await deps.principalOf(userId, id, signedInBy);
        if (principal === undefined) return undefined;
        const used = (await usage.lastUsedAt([id])).get(id) ?? createdAt;
        return {
          principal,
          expiresAt: Math.min(Date.parse(expiresAt), Date.parse(used) + lifetimes.idleMs),
        };
      },
    },
  });
  const own = { ...deps, live, sessions };
  return {
    sessions,
    handlers: {
      resolveSession: resolveSessionRoute({ principals, sealOrigin: deps.sealOrigin }),
      listSessionsForAuthenticatedUser: listSessionsRoute(own),
      deleteSessionForAuthenticatedUser: deleteSessionRoute(own),
    },
  };
};
