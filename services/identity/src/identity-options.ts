import type {
  auditOperations,
  erasureOperations,
  identityAdminOperations,
  identityAuditInternalOperations,
  identityInternalOperations,
  memberOperations,
  memberRelationOperations,
  organizationOperations,
  recoveryInternalOperations,
  samlOperations,
  sessionOperations,
  signInAdminOperations,
  signInInternalOperations,
  userOperations,
  userTokenOperations,
} from '@bindery/contracts';
import type { RuntimeTuning, ServicePorts } from '@bindery/event-sourcing';
import type { Mailer } from '@bindery/mail';
import type { Service, ServiceClient } from '@bindery/service-kit';
import type { BootstrapOptions, Bootstrapped } from './bootstrap.ts';
import type { RawRoute } from './features/audit/index.ts';
import type { SignInLinks } from './features/passwords/index.ts';
import type { SamlRoute, SamlSettings } from './features/saml/index.ts';
import type { KeyStore } from './shared/key-store.ts';
import type { Vault } from './shared/vault.ts';
import type { SignInConfig } from './sign-in-settings.ts';

/** What the identity service is made of. */
export interface IdentityOptions {
  readonly ports: ServicePorts;
  /** Keys of users, in a store apart from the events. */
  readonly keys: KeyStore;
  /** What is derived from the instance key. */
  readonly vault: Vault;
  /** Operations of the other services. */
  readonly services: ServiceClient;
  /** Absent: no mail can be sent. */
  readonly mailer?: Mailer;
  /** Address of the instance in mails, without a trailing slash. */
  readonly publicUrl?: () => string;
  /** How people sign in. */
  readonly signIn?: SignInConfig;
  /** Of signing in through identity providers of organizations. */
  readonly saml?: SamlSettings;
  readonly tuning?: Partial<RuntimeTuning>;
}

/** The identity service, and what its composition root calls at every start. */
export type IdentityService = Service & {
  /** Routes outside the JSON contract that the gateway mounts. */
  readonly rawRoutes: readonly (RawRoute | SamlRoute)[];
  /** Call it between `start` and the first request. Idempotent, also when killed anywhere. */
  bootstrap(options: BootstrapOptions): Promise<Bootstrapped>;
  /** One-time links, for the composition root: how the first administrator gets in. */
  readonly signInLinks: SignInLinks;
  /** Waits for writes that no request waits for: the last use of tokens. */
  settled(): Promise<void>;
};

/** What the identity service answers, apart from teams and invitations, whose features name their own. */
export type IdentityOperations = typeof userOperations &
  typeof organizationOperations &
  typeof memberOperations &
  typeof memberRelationOperations &
  typeof identityInternalOperations &
  typeof sessionOperations &
  typeof signInInternalOperations &
  typeof signInAdminOperations &
  typeof userTokenOperations &
  typeof samlOperations &
  typeof auditOperations &
  typeof erasureOperations &
  typeof recoveryInternalOperations &
  typeof identityAuditInternalOperations &
  typeof identityAdminOperations;

/** Those of the administration. */
export type AdminOperation =
  | keyof typeof identityAdminOperations
  | keyof typeof signInAdminOperations
  | 'listInstanceAuditEvents'
  | 'deleteUser';
