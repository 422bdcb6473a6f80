import { limits } from '@bindery/contracts';
import { type CommandMetadata, deriveEventId, type Repository } from '@bindery/event-sourcing';
import { type Clock, createIdSource } from '@bindery/service-kit';
import {
  type InitializeInstance,
  type InstanceEvent,
  type InstanceState,
  instanceId,
} from './features/instance/index.ts';
import type { OrganizationCommand, OrganizationEvent, OrganizationState } from './features/organizations/index.ts';
import {
  acceptableToken,
  type CredentialsCommand,
  type CredentialsEvent,
  type CredentialsState,
  tokenHashOf,
} from './features/tokens/index.ts';
import type { Registration } from './features/users/index.ts';
import type { ForgetPrincipal } from './shared/ports.ts';
import type { Vault } from './shared/vault.ts';

/** What the first start makes. */
export interface BootstrapOptions {
  readonly email: string;
  readonly displayName: string;
  readonly organizationTitle: string;
  /**
   * Called at the first start before anything exists; once more when that start was killed and did not end.
   * @returns the token that is to work, kept where the operator finds it
   */
  readonly onFirstStart: () => string;
  /** Works for the administrator afterwards, at every start that names it; at least 20 characters. */
  readonly token?: string;
}

export interface Bootstrapped {
  /** This was the first start. */
  readonly first: boolean;
  readonly administratorId: string;
  readonly organizationId: string;
}

export interface BootstrapDeps {
  readonly instance: Repository<InstanceState, InitializeInstance, InstanceEvent>;
  readonly organizations: Repository<OrganizationState, OrganizationCommand, OrganizationEvent>;
  readonly credentials: Repository<CredentialsState, CredentialsCommand, CredentialsEvent>;
  readonly registration: Registration;
  readonly userExists: (userId: string) => Promise<boolean>;
  readonly forget: ForgetPrincipal;
  readonly vault: Vault;
  readonly clock: Clock;
}

/**
 * Makes the administrator, an organization and a token at the first start. Killed anywhere in between, the next start
 * goes on: ids and event ids are derived from the instance key, so what is there already is found, and the event that ends
 * it comes last.
 * @throws RangeError for a token that could be guessed or not be sent
 */
export const createBootstrap =
  (deps: BootstrapDeps) =>
  async (options: BootstrapOptions): Promise<Bootstrapped> => {
    const { state } = await deps.instance.load(instanceId);
    const first = state.status === 'new';
    const administratorId = first ? deps.vault.deriveId('administrator') : state.administratorId;
    const organizationId = first ? deps.vault.deriveId('organization') : state.organizationId;
    const token = first ? options.onFirstStart() : options.token;
    if (token !== undefined && !acceptableToken.test(token))
      throw new RangeError('the bootstrap token must have 20 to 256 of the characters A-Z a-z 0-9 . _ ~ + / -');
    if (first) await makeAccounts(deps, options, { administratorId, organizationId });
    if (token !== undefined) await ensureToken(deps, administratorId, token);
    if (first) {
      const data = { administratorId, organizationId, initializedAt: deps.clock.now().toISOString() };
      const metadata = metadataOf(deps.clock, administratorId, 'initialize');
      await deps.instance.handle(instanceId, { type: 'InitializeInstance', data }, metadata);
    }
    await deps.forget(administratorId);
    return { first, administratorId, organizationId };
  };

const makeAccounts = async (
  deps: BootstrapDeps,
  { email, displayName, organizationTitle }: BootstrapOptions,
  { administratorId, organizationId }: Omit<Bootstrapped, 'first'>,
): Promise<void> => {
  const name = displayName.slice(0, limits.user.displayName.max);
  const metadata = (step: string) => metadataOf(deps.clock, administratorId, step);
  // A start that was killed may have got this far, perhaps with another email configured.
  if (!(await deps.userExists(administratorId)))
    await deps.registration.register({ userId: administratorId, email, displayName: name }, metadata('administrator'));
  const created = { organizationId, createdBy: administratorId, createdAt: deps.clock.now().toISOString() };
  const data = { ...created, title: organizationTitle, emailDomains: [] };
  await deps.organizations.handle(organizationId, { type: 'CreateOrganization', data }, metadata('organization'));
};

const ensureToken = async (deps: BootstrapDeps, userId: string, token: string): Promise<void> => {
  const data = {
    userId,
    tokenId: createIdSource().id(),
    tokenHash: tokenHashOf(token),
    name: 'Bootstrap',
    issuedAt: deps.clock.now().toISOString(),
  };
  // Random event ids: a token that was revoked and is set again is issued again.
  const metadata = { ...metadataOf(deps.clock, userId, 'token'), eventId: () => crypto.randomUUID() };
  await deps.credentials.handle(userId, { type: 'EnsureToken', data }, metadata);
};

/** Metadata of a step; the n-th event of a step has the same id at every start. */
const metadataOf = (clock: Clock, administratorId: string, step: string): CommandMetadata => {
  let count = 0;
  const correlationId = deriveEventId(administratorId, 'bootstrap');
  return {
    correlationId,
    causationId: correlationId,
    actor: { kind: 'service', id: 'service:identity' },
    now: clock.now(),
    eventId: () => {
      count += 1;
      return deriveEventId(administratorId, `bootstrap/${step}/${count}`);
    },
  };
};
