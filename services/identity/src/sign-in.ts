import { limits, type signInInternalOperations, type userTokenOperations } from '@bindery/contracts';
import type { Reactor, ServicePorts, ServiceRuntime } from '@bindery/event-sourcing';
import type { Mailer } from '@bindery/mail';
import { createIdSource, type HandlersFor } from '@bindery/service-kit';
import { invitationsAggregate, isOver } from './features/invites/index.ts';
import { createOidcFeature, externalIdentityAggregate } from './features/oidc/index.ts';
import {
  attemptsAggregate,
  createLinkSecrets,
  createPasswordsFeature,
  mailLinkReactor,
  passwordAggregate,
  type SignInLinks,
} from './features/passwords/index.ts';
import { ownMetadata, type Sessions } from './features/sessions/index.ts';
import { ownTokenRoutes, type TokenRoutesDeps } from './features/tokens/index.ts';
import type { LiveUsers, Registration } from './features/users/index.ts';
import { localWhenAway } from './shared/local-limits.ts';
import type { PersonalDataSealer } from './shared/personal-data.ts';
import type { Vault } from './shared/vault.ts';
import type { SignInConfig } from './sign-in-settings.ts';

/** What signing in needs of the service. */
export interface SignInParts {
  readonly runtime: ServiceRuntime;
  readonly ports: ServicePorts;
  readonly config: SignInConfig;
  readonly mailer: Mailer | undefined;
  readonly vault: Vault;
  readonly sealer: PersonalDataSealer;
  readonly sessions: Sessions;
  readonly registration: Registration;
  readonly users: LiveUsers;
  readonly tokens: TokenRoutesDeps;
  readonly isActive: (userId: string) => Promise<boolean>;
  /** Who has the email with this digest. */
  readonly holderOf: (emailDigest: string) => Promise<string | undefined>;
}

/** Sends the one-time links that are asked for by mail. */
export const signInReactor = (
  deps: () => { readonly mailer: Mailer | undefined; readonly vault: Vault; readonly users: LiveUsers } & Pick<
    ServicePorts,
    'clock'
  >,
): Reactor =>
  mailLinkReactor(() => {
    const { mailer, vault, users, clock } = deps();
    const emailOf = async (userId: string) => (await users().get(userId))?.document.email;
    return { mailer, secrets: createLinkSecrets(vault.secret('sign-in-links')), emailOf, clock };
  });

/** All the ways in that the instance offers by itself: passwords, one-time links, its OpenID provider, own tokens. */
export const createSignIn = (
  parts: SignInParts,
): {
  readonly links: SignInLinks;
  readonly handlers: HandlersFor<typeof signInInternalOperations & typeof userTokenOperations>;
  readonly administration: ReturnType<typeof createPasswordsFeature>['administration'];
  settle(): Promise<void>;
} => {
  const { runtime, ports, config, users, tokens } = parts;
  const invitations = runtime.repository(invitationsAggregate);
  const { logger } = ports.telemetry;
  const common = { ...parts, cache: localWhenAway(ports.cache, logger), logger };
  const passwords = createPasswordsFeature({
    ...common,
    passwords: runtime.repository(passwordAggregate),
    attempts: runtime.repository(attemptsAggregate),
    hashCost: config.hashCost,
    oidc: config.oidc !== undefined,
    async welcome(email, digest, context) {
      const { pending } = (await invitations.load(digest)).state;
      const now = context.now.toISOString();
      if (![...pending.values()].some((invitation) => !isOver(invitation, now))) return undefined;
      const userId = createIdSource().id();
      const displayName = (email.split('@')[0] ?? email).slice(0, limits.user.displayName.max);
      await parts.registration.register({ userId, email, displayName }, ownMetadata(userId, context));
      return userId;
    },
    async factsAbout(userId) {
      const user = (await users().get(userId))?.document;
      return user === undefined ? [] : [user.email ?? '', user.displayName];
    },
  });
  const oidc = createOidcFeature({
    ...common,
    config: config.oidc,
    repository: runtime.repository(externalIdentityAggregate),
    failures: passwords.failures,
    now: () => ports.clock.now().getTime(),
  });
  return {
    links: passwords.links,
    handlers: { ...passwords.handlers, ...oidc, ...ownTokenRoutes(tokens) },
    administration: passwords.administration,
    settle: () => passwords.settle(),
  };
};
