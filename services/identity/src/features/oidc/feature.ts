import { createHmac, randomBytes } from 'node:crypto';
import { limits, type signInInternalOperations } from '@bindery/contracts';
import type { Repository } from '@bindery/event-sourcing';
import { createIdSource, type HandlersFor, isProblem, notFound, setCookie } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { LimitStore } from '../../shared/local-limits.ts';
import type { PersonalDataSealer } from '../../shared/personal-data.ts';
import { normalizeEmail } from '../../shared/text.ts';
import type { Vault } from '../../shared/vault.ts';
import type { FailureLog } from '../passwords/index.ts';
import { ownMetadata, type SessionContext, type Sessions } from '../sessions/index.ts';
import type { Registration } from '../users/index.ts';
import { callbackPath, type OidcConfig } from './config.ts';
import {
  createExternalIdentities,
  type ExternalIdentityCommand,
  type ExternalIdentityEvent,
  type ExternalIdentityState,
} from './external-identities.ts';
import { createFlows, flowCookie, flowSeconds, localPath } from './flow.ts';
import { createOidcProvider, type ExternalProfile, refused } from './provider.ts';

export interface OidcFeatureDeps {
  /** Absent: there is no provider, and the operations answer 404. */
  readonly config: OidcConfig | undefined;
  readonly repository: Repository<ExternalIdentityState, ExternalIdentityCommand, ExternalIdentityEvent>;
  readonly registration: Registration;
  readonly sessions: Sessions;
  readonly failures: FailureLog;
  readonly sealer: PersonalDataSealer;
  readonly vault: Vault;
  readonly cache: LimitStore;
  readonly logger: Logger;
  readonly now: () => number;
  readonly holderOf: (emailDigest: string) => Promise<string | undefined>;
  readonly isActive: (userId: string) => Promise<boolean>;
}

const plausibleEmail = /^[^\s@]{1,64}@[^\s@]{1,180}$/;
const random = (): string => randomBytes(32).toString('base64url');

/** Signing in through the OpenID provider of the instance: authorization code with PKCE, state and nonce. */
export const createOidcFeature = (
  deps: OidcFeatureDeps,
): HandlersFor<Pick<typeof signInInternalOperations, 'beginOidcSignIn' | 'finishOidcSignIn'>> => {
  const { config, vault, sessions } = deps;
  if (config === undefined) {
    const none = async (): Promise<never> => {
      throw notFound('identity provider');
    };
    return { beginOidcSignIn: none, finishOidcSignIn: none };
  }
  const provider = createOidcProvider(config, deps.now);
  const identities = createExternalIdentities(deps.repository);
  const flows = createFlows(vault, deps.cache);
  const digestKey = vault.secret('external-identities');
  const digest = (...parts: readonly string[]): string =>
    createHmac('sha256', digestKey).update(JSON.stringify(parts)).digest('hex');

  /** The user behind a profile: linked before, or found by a verified email, or made. @throws Problem 401 */
  const userOf = async (profile: ExternalProfile, context: SessionContext): Promise<string> => {
    const identity = digest('subject', config.issuer, profile.subject);
    const email = profile.email ?? '';
    const domain = normalizeEmail(email.slice(email.lastIndexOf('@') + 1));
    if (profile.email !== undefined && config.emailDomains.length > 0 && !config.emailDomains.includes(domain))
      throw refused('email-domain');
    const linked = await identities.holder(identity);
    if (linked !== undefined) return linked;
    if (!profile.emailVerified || !plausibleEmail.test(email)) throw refused('email-not-verified');
    const userId = await find(email, profile.name, context);
    const sealed = await deps.sealer.sealText(
      userId,
      `external-identity:${identity}`,
      JSON.stringify({ issuer: config.issuer, subject: profile.subject }),
    );
    const data = { userId, identity, sealed, linkedAt: context.now.toISOString() };
    await identities.link(data, digest('user', config.issuer, userId), ownMetadata(userId, context));
    return userId;
  };

  const find = async (email: string, name: string | undefined, context: SessionContext): Promise<string> => {
    const holder = await deps.holderOf(vault.emailDigest(normalizeEmail(email)));
    if (holder !== undefined) return holder;
    if (!config.createUsers) throw refused('no-account');
    const userId = createIdSource().id();
    const shown = (name ?? '').replaceAll(/\p{C}/gu, ' ').trim() || (email.split('@')[0] ?? email);
    const displayName = shown.slice(0, limits.user.displayName.max);
    await deps.registration.register({ userId, email, displayName }, ownMetadata(userId, context));
    return userId;
  };

  return {
    async beginOidcSignIn(context, { body }) {
      const secrets = { state: random(), nonce: random(), verifier: random() };
      const url = await provider.authorizationUrl(secrets, `${context.baseUrl}${callbackPath}`);
      const flow = { ...secrets, returnTo: localPath(body.returnTo), begunAt: context.now.getTime() };
      const cookie = setCookie(flowCookie, flows.seal(flow), context.baseUrl, flowSeconds);
      return { status: 200, body: { url, cookies: [cookie] } };
    },

    async finishOidcSignIn(context, { body }) {
      const { address, userAgent } = body;
      const client = { address, ...(userAgent === undefined ? {} : { userAgent }) };
      try {
        const flow = flows.open(body.flow, context.now.getTime());
        if (flow === undefined) throw refused('no-flow');
        const callback = new URL(`${context.baseUrl}${callbackPath}?${body.query}`);
        if (callback.searchParams.get('state') !== flow.state) throw refused('state');
        if (!(await flows.useOnce(flow.state))) throw refused('state-used');
        const userId = await userOf(await provider.profile(callback, flow), context);
        if (!(await deps.isActive(userId))) throw refused('no-account');
        const { cookie } = await sessions.begin(userId, { method: 'oidc', client }, context);
        const cleared = setCookie(flowCookie, '', context.baseUrl, 0);
        return { status: 200, body: { cookies: [cookie, cleared], returnTo: flow.returnTo } };
      } catch (error) {
        if (isProblem(error) && error.kind === 'unauthenticated') {
          const reason = String(error.details.reason ?? error.code);
          deps.logger.info('a sign-in through the identity provider was refused', { reason });
          deps.failures.note({ userId: undefined, method: 'oidc', reason, client: {} }, context);
        }
        throw error;
      }
    },
  };
};
