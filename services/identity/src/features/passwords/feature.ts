import type { signInAdminOperations, signInInternalOperations } from '@bindery/contracts';
import type { Repository } from '@bindery/event-sourcing';
import type { Mailer } from '@bindery/mail';
import { type HandlersFor, notFound } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { LimitStore } from '../../shared/local-limits.ts';
import type { PersonalDataSealer } from '../../shared/personal-data.ts';
import type { Vault } from '../../shared/vault.ts';
import type { Sessions } from '../sessions/index.ts';
import type { NoteFailure, SignInFailed } from './attempts.ts';
import { createDevices } from './devices.ts';
import { createFailureLog, type FailureLog } from './failures.ts';
import { createPasswordHasher, type HashCost } from './hashing.ts';
import { createLinkSecrets } from './links.ts';
import { createPasswordStore, type PasswordRepository } from './password-store.ts';
import { createPasswordSignIn, type SignInDeps } from './sign-in.ts';
import { createSignInLinks, type SignInLinks, type SignInLinksDeps } from './sign-in-links.ts';
import { createSignInThrottle } from './throttle.ts';

export interface PasswordsFeatureDeps
  extends Pick<SignInDeps, 'holderOf' | 'isActive' | 'factsAbout'>,
    Pick<SignInLinksDeps, 'welcome'> {
  readonly passwords: PasswordRepository;
  readonly attempts: Repository<{ readonly count: number }, NoteFailure, SignInFailed>;
  readonly sessions: Sessions;
  readonly sealer: PersonalDataSealer;
  readonly vault: Vault;
  readonly cache: LimitStore;
  readonly logger: Logger;
  readonly mailer: Mailer | undefined;
  /** Other than the usual one. */
  readonly hashCost: HashCost | undefined;
  /** There is an OpenID provider. */
  readonly oidc: boolean;
}

type Operations = Omit<typeof signInInternalOperations, 'beginOidcSignIn' | 'finishOidcSignIn'>;

/** Signing in with a password or a one-time link. */
export const createPasswordsFeature = (
  deps: PasswordsFeatureDeps,
): {
  readonly links: SignInLinks;
  readonly failures: FailureLog;
  readonly handlers: HandlersFor<Operations>;
  readonly administration: HandlersFor<typeof signInAdminOperations>;
  settle(): Promise<void>;
} => {
  const { sealer, vault, logger } = deps;
  const hasher = createPasswordHasher(deps.hashCost);
  const failures = createFailureLog({ repository: deps.attempts, sealer, logger });
  const parts = {
    ...deps,
    hasher,
    failures,
    repository: deps.passwords,
    passwords: createPasswordStore({ repository: deps.passwords, sealer, hasher }),
    throttle: createSignInThrottle(deps.cache),
    devices: createDevices(vault.secret('devices')),
    secrets: createLinkSecrets(vault.secret('sign-in-links')),
    digest: (normalized: string) => vault.emailDigest(normalized),
    onProblem: (error: unknown) => logger.warn('a sign-in link was not made', { error }),
  };
  const signIn = createPasswordSignIn(parts);
  const links = createSignInLinks(parts);
  return {
    links,
    failures,
    handlers: {
      signInWithPassword: async (context, { body }) => ok(await signIn.signIn(body, context)),
      requestSignInLink: async (context, { body }) => {
        if (deps.mailer !== undefined) await links.request(body, context);
        return { status: 204 };
      },
      useSignInLink: async (context, { body }) => ok(await links.use(body, context)),
      changePassword: async (context, { body }) => ok(await signIn.change(context.principal, body, context)),
      getSignInOptions: async ({ principal }) => ({
        status: 200,
        body: {
          mail: deps.mailer !== undefined,
          oidc: deps.oidc,
          password: principal.kind === 'user' && (await parts.passwords.load(principal.id)) !== undefined,
        },
      }),
    },
    administration: {
      createUserSignInLink: async (context, { params: { userId } }) => {
        if (!(await deps.isActive(userId))) throw notFound('user');
        const link = await links.issue(userId, { purpose: 'administrator', mail: false }, context);
        return { status: 201, body: link };
      },
    },
    async settle() {
      await Promise.all([failures.settle(), links.settle()]);
    },
  };
};

const ok = (cookies: readonly string[]) => ({ status: 200 as const, body: { cookies: [...cookies] } });
