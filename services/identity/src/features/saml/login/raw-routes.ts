import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CommandMetadata, Repository } from '@bindery/event-sourcing';
import { createIdSource, readCookie, setCookie } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { LimitStore } from '../../../shared/local-limits.ts';
import type { Sessions } from '../../sessions/index.ts';
import { addressesOf, sameOriginPath, samlPaths } from '../addresses.ts';
import { type ActiveProvider, isActive, type LiveProviders, type ProviderDocument } from '../read-model.ts';
import type { Claims } from './assertion.ts';
import { type AssertionUsed, assertionKey, type UseAssertion } from './assertion-use.ts';
import { readForm } from './form.ts';
import type { LoginCommand, LoginEvent, LoginState } from './login-aggregate.ts';
import { metadataOf, sendRedirect, sendRefused } from './pages.ts';
import { SamlRefusal } from './refusal.ts';
import type { Tickets } from './tickets.ts';
import { loginMs, samlFor, verifyResponse } from './verify.ts';

/** What the gateway tells a raw route. */
export interface SamlRouteContext {
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
  readonly now: Date;
  /** Public address of the instance without a trailing slash. */
  readonly baseUrl: string;
  /** Of the caller, also behind proxies. */
  readonly address: string;
}

/** A route outside the JSON contract, as the gateway mounts it. */
export interface SamlRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  handle(request: IncomingMessage, response: ServerResponse, context: SamlRouteContext): Promise<void>;
}

export interface SamlRouteDeps {
  readonly providers: LiveProviders;
  readonly logins: Repository<LoginState, LoginCommand, LoginEvent>;
  readonly assertions: Repository<{ readonly used: boolean }, UseAssertion, AssertionUsed>;
  /** Finds or makes the user and its membership. */
  readonly account: (provider: ActiveProvider, claims: Claims, metadata: CommandMetadata) => Promise<string>;
  readonly sessions: Pick<Sessions, 'begin' | 'end'>;
  /** Whether the provider is there, by its events: the read model may be a moment behind. */
  readonly isThere: (providerId: string) => Promise<boolean>;
  readonly tickets: Tickets;
  readonly cache: LimitStore;
  readonly logger: Logger;
  /** Entity ids of identity providers that cannot sign both: their assertion alone is enough. */
  readonly unsignedResponsesFrom: ReadonlySet<string>;
}

/** Name of the cookie that ties an attempt to the browser that began it. */
const browserCookie = 'saml';
/** Time between the answer and the session, in ms: one redirect. */
const finishMs = 60_000;
/** Attempts of one address, and refusals of one provider that are recorded as events. */
const perAddress = { capacity: 300, refillPerSecond: 5 };
const recordedRefusals = { capacity: 30, refillPerSecond: 30 / 3600 };

const encode = (text: string): string => Buffer.from(text).toString('base64url');
const decode = (text: string | undefined): string => Buffer.from(text ?? '', 'base64url').toString();

/**
 * Signing in through SAML: `start` sends the browser to the identity provider, `acs` takes the answer, `finish` gives the
 * session to the browser that began. The answer comes from another site, so that our cookies do not come with it; the
 * redirect from `acs` to `finish` brings them. Without that step a forger could sign somebody else's browser in as himself.
 */
export const createSamlRoutes = (deps: SamlRouteDeps): readonly SamlRoute[] => {
  const { tickets, logger, cache } = deps;

  const allowed = async (key: string, rule: typeof perAddress): Promise<boolean> =>
    (await cache.take(`saml:${key}`, rule)).allowed;
  const metadataFor = (provider: ProviderDocument, context: SamlRouteContext, actor?: string): CommandMetadata => ({
    correlationId: context.requestId,
    causationId: context.requestId,
    actor: actor === undefined ? { kind: 'service', id: 'service:identity' } : { kind: 'user', id: actor },
    organizationId: provider.organizationId,
    now: context.now,
    eventId: () => crypto.randomUUID(),
  });
  const loginOf = ({ id, organizationId }: ProviderDocument, loginId: string) => ({
    loginId,
    providerId: id,
    organizationId,
  });

  const refuse = async (
    provider: ProviderDocument,
    context: SamlRouteContext,
    response: ServerResponse,
    { reason }: SamlRefusal,
  ): Promise<void> => {
    const { requestId, now } = context;
    const { id: providerId, organizationId } = provider;
    logger.warn('a SAML sign-in was refused', { requestId, providerId, organizationId, reason });
    if (await allowed(`refused:${providerId}`, recordedRefusals)) {
      const loginId = createIdSource().id();
      const data = { ...loginOf(provider, loginId), reason, at: now.toISOString() };
      await deps.logins.handle(loginId, { type: 'RefuseSamlLogin', data }, metadataFor(provider, context));
    }
    sendRefused(response, 403, requestId);
  };

  /** Finds the provider, holds addresses back that try too often, and turns refusals into the one page. */
  const guarded =
    (
      method: 'GET' | 'POST',
      work: (
        provider: ActiveProvider,
        request: IncomingMessage,
        response: ServerResponse,
        context: SamlRouteContext,
      ) => Promise<void>,
    ): SamlRoute['handle'] =>
    async (request, response, context) => {
      // HEAD comes with GET, and must neither begin nor end anything.
      if (request.method !== method) return sendRefused(response, 405, context.requestId, { allow: method });
      if (!(await allowed(`from:${context.address}`, perAddress)))
        return sendRefused(response, 429, context.requestId, { 'retry-after': '60' });
      const provider = (await deps.providers().get(context.params.providerId ?? ''))?.document;
      if (provider === undefined || !isActive(provider)) return sendRefused(response, 404, context.requestId);
      try {
        await work(provider, request, response, context);
      } catch (error) {
        // What was not read of a body that is too large or too slow would otherwise hold the connection.
        if (!request.complete) response.setHeader('connection', 'close');
        if (!(error instanceof SamlRefusal)) throw error;
        await refuse(provider, context, response, error);
      }
    };

  const start = guarded('GET', async (provider, _request, response, { query, now, baseUrl }) => {
    const requestId = `_${createIdSource().id()}`;
    const expiresAt = new Date(now.getTime() + loginMs);
    const returnTo = sameOriginPath(new URLSearchParams(query).get('returnTo'));
    const relayState = tickets.issue('relay-state', provider.id, [requestId], expiresAt);
    const browser = tickets.issue('browser', provider.id, [requestId, encode(returnTo)], expiresAt);
    const saml = samlFor(provider, addressesOf(baseUrl, provider.id), requestId, false);
    const location = await saml.getAuthorizeUrlAsync(relayState, undefined, {});
    sendRedirect(response, 302, location, [setCookie(browserCookie, browser, baseUrl, loginMs / 1000)]);
  });

  const acs = guarded('POST', async (provider, request, response, context) => {
    const { now, baseUrl } = context;
    const { samlResponse, relayState } = await readForm(request);
    const [requestId] = tickets.read('relay-state', provider.id, relayState, now) ?? [];
    if (requestId === undefined) throw new SamlRefusal('relay-state');
    const addresses = addressesOf(baseUrl, provider.id);
    const unsignedResponse = deps.unsignedResponsesFrom.has(provider.entityID);
    const claims = await verifyResponse(samlResponse, { provider, addresses, requestId, unsignedResponse, now });

    const metadata = metadataFor(provider, context);
    const { organizationId, id: providerId } = provider;
    const usedAt = now.toISOString();
    await deps.assertions.handle(
      assertionKey(providerId, claims.assertionId),
      { type: 'UseSamlAssertion', data: { providerId, organizationId, loginId: requestId, usedAt } },
      metadata,
    );
    const userId = await deps.account(provider, claims, metadata);
    await deps.logins.handle(
      requestId,
      { type: 'AcceptSamlLogin', data: { ...loginOf(provider, requestId), userId, at: usedAt } },
      metadataFor(provider, context, userId),
    );
    const ticket = tickets.issue('finish', providerId, [requestId], new Date(now.getTime() + finishMs));
    sendRedirect(response, 303, `${addresses.finishPath}?ticket=${ticket}`);
  });

  const finish = guarded('GET', async (provider, request, response, context) => {
    const { query, now, baseUrl, address } = context;
    const [requestId] = tickets.read('finish', provider.id, new URLSearchParams(query).get('ticket'), now) ?? [];
    const cookie = readCookie(request.headers.cookie, browserCookie, baseUrl);
    const [begun, returnTo] = tickets.read('browser', provider.id, cookie, now) ?? [];
    if (requestId === undefined || begun !== requestId) throw new SamlRefusal('browser');
    const { state } = await deps.logins.load(requestId);
    if (state.status !== 'accepted') throw new SamlRefusal('replay');
    const { organizationId } = provider;
    await deps.logins.handle(
      requestId,
      { type: 'FinishSamlLogin', data: { ...loginOf(provider, requestId), at: now.toISOString() } },
      metadataFor(provider, context, state.userId),
    );
    const userAgent = request.headers['user-agent'];
    const client = { address, ...(userAgent === undefined ? {} : { userAgent }) };
    const how = { method: 'saml', organizationId, providerId: provider.id, client } as const;
    const session = await deps.sessions.begin(state.userId, how, context);
    // Deleted a moment ago: the sessions that it had were ended without this one.
    if (!(await deps.isThere(provider.id))) {
      const { sessionId } = session;
      await deps.sessions.end(state.userId, { sessionIds: [sessionId], organizationId, reason: 'removed' }, context);
      throw new SamlRefusal('account');
    }
    const cookies = [session.cookie, setCookie(browserCookie, '', baseUrl, 0)];
    sendRedirect(response, 303, sameOriginPath(decode(returnTo)), cookies);
  });

  const metadata: SamlRoute['handle'] = async (_request, response, { params, baseUrl, requestId }) => {
    const provider = await deps.providers().get(params.providerId ?? '');
    if (provider === undefined) return sendRefused(response, 404, requestId);
    response.writeHead(200, { 'content-type': 'application/samlmetadata+xml', 'cache-control': 'public, max-age=300' });
    response.end(metadataOf(addressesOf(baseUrl, provider.document.id)));
  };

  return [
    { method: 'GET', path: samlPaths.metadata, handle: metadata },
    { method: 'GET', path: samlPaths.start, handle: start },
    { method: 'POST', path: samlPaths.acs, handle: acs },
    { method: 'GET', path: samlPaths.finish, handle: finish },
  ];
};
