import { limits, type SessionEnding, type SessionMethod } from '@bindery/contracts';
import type { CommandMetadata, Repository } from '@bindery/event-sourcing';
import { createIdSource, type OperationContext, type Principal, sessionCookie, setCookie } from '@bindery/service-kit';
import type { PersonalDataSealer } from '../../shared/personal-data.ts';
import type { ForgetPrincipal } from '../../shared/ports.ts';
import type { SealOrigin } from '../../shared/with-origin.ts';
import { newSecret, type TokenUsage, tokenHashOf } from '../tokens/index.ts';
import type { SessionCommand } from './decider.ts';
import type { SessionEvent } from './events.ts';
import type { SessionsState } from './state.ts';

/** How long sessions last. */
export interface SessionLifetimes {
  /** Time without any use after which a session ends, in ms. */
  readonly idleMs: number;
  /** Time after which it ends in any case, in ms. */
  readonly absoluteMs: number;
}

/** Where a session begins, shown to its owner. */
export interface SessionClient {
  readonly address?: string;
  readonly userAgent?: string;
}

/** What of an operation's context a session needs. */
export type SessionContext = Pick<OperationContext, 'requestId' | 'now' | 'baseUrl' | 'traceparent'> & {
  /** Who asks, when that is known already. */
  readonly principal?: Principal;
};

/** A session that was just begun. */
export interface BegunSession {
  readonly sessionId: string;
  /** Value of the `Set-Cookie` header that gives the browser the session; the only place that holds the secret. */
  readonly cookie: string;
  /** ISO time at which it ends in any case. */
  readonly expiresAt: string;
}

/** Begins and ends sessions, for every way to sign in. Whoever calls `begin` has made sure who the user is. */
export interface Sessions {
  begin(
    userId: string,
    how: {
      readonly method: SessionMethod;
      /** Of SAML: the organization whose provider vouched for the user. */
      readonly organizationId?: string;
      /** Of SAML: that provider. */
      readonly providerId?: string;
      readonly client?: SessionClient;
    },
    context: SessionContext,
  ): Promise<BegunSession>;
  /**
   * Ends sessions of a user: those named, those of an organization or of one of its providers, or all. In force at the
   * next request.
   * @returns how many were open
   */
  end(
    userId: string,
    which: {
      readonly sessionIds?: readonly string[];
      readonly organizationId?: string;
      readonly providerId?: string;
      readonly reason: SessionEnding;
    },
    context: SessionContext,
  ): Promise<number>;
}

export interface SessionsDeps {
  readonly repository: Repository<SessionsState, SessionCommand, SessionEvent>;
  readonly sealer: PersonalDataSealer;
  readonly usage: TokenUsage;
  readonly forget: ForgetPrincipal;
  readonly lifetimes: SessionLifetimes;
  readonly sealOrigin: SealOrigin;
}

/** Prefix of the secret in a session cookie. */
const secretPrefix = 'bnd_ses_';

/** What a client's seal is bound to. */
export const clientPurpose = (sessionId: string): string => `session-client:${sessionId}`;

/** Control characters out, and not longer than what is shown. */
const shown = (text: string): string => text.replaceAll(/\p{C}/gu, ' ').slice(0, limits.session.userAgent);

export const createSessions = ({
  repository,
  sealer,
  usage,
  forget,
  lifetimes,
  sealOrigin,
}: SessionsDeps): Sessions => ({
  async begin(userId, { method, organizationId, providerId, client = {} }, context) {
    const secret = newSecret(secretPrefix);
    const sessionId = createIdSource().id();
    const expiresAt = new Date(context.now.getTime() + lifetimes.absoluteMs).toISOString();
    const { address, userAgent } = client;
    const facts = {
      ...(address === undefined ? {} : { address: shown(address) }),
      ...(userAgent === undefined ? {} : { userAgent: shown(userAgent) }),
    };
    const data = {
      userId,
      sessionId,
      sessionHash: tokenHashOf(secret),
      method,
      ...(organizationId === undefined ? {} : { organizationId }),
      ...(providerId === undefined ? {} : { providerId }),
      client: await sealer.sealText(userId, clientPurpose(sessionId), JSON.stringify(facts)),
      startedAt: context.now.toISOString(),
      expiresAt,
    };
    const origin = address === undefined ? undefined : await sealOrigin(userId, address);
    const own = ownMetadata(userId, context, organizationId);
    const metadata = { ...own, tokenId: sessionId, ...(origin === undefined ? {} : { origin }) };
    const { events } = await repository.handle(userId, { type: 'StartSession', data }, metadata);
    await usage.remove(events.flatMap((event) => (event.type === 'SessionsEnded' ? event.data.sessionIds : [])));
    const cookie = setCookie(sessionCookie, secret, context.baseUrl, lifetimes.absoluteMs / 1000);
    return { sessionId, cookie, expiresAt };
  },
  async end(userId, which, context) {
    const data = { userId, ...which, endedAt: context.now.toISOString() };
    const metadata = ownMetadata(userId, context, which.organizationId);
    const { events } = await repository.handle(userId, { type: 'EndSessions', data }, metadata);
    await forget(userId);
    const ended = events.flatMap((event) => (event.type === 'SessionsEnded' ? event.data.sessionIds : []));
    await usage.remove(ended);
    return ended.length;
  },
});

/** The user does it; nobody else is known yet when somebody signs in. Random event ids: the secret is another each time. */
export const ownMetadata = (
  userId: string,
  { requestId, now, traceparent, principal }: Omit<SessionContext, 'baseUrl'>,
  organizationId?: string,
): CommandMetadata => ({
  correlationId: requestId,
  causationId: requestId,
  actor: { kind: 'user', id: userId },
  ...(principal?.id === userId ? { tokenId: principal.tokenId } : {}),
  ...(principal?.id === userId && principal.origin !== undefined ? { origin: principal.origin } : {}),
  ...(organizationId === undefined ? {} : { organizationId }),
  ...(traceparent === undefined ? {} : { traceparent }),
  now,
  eventId: () => crypto.randomUUID(),
});
