import type { CommandMetadata, Repository } from '@bindery/event-sourcing';
import { createIdSource, isProblem } from '@bindery/service-kit';
import type { ForgetPrincipal } from '../../../shared/ports.ts';
import { normalizeEmail } from '../../../shared/text.ts';
import {
  memberIn,
  type OrganizationCommand,
  type OrganizationEvent,
  type OrganizationState,
} from '../../organizations/index.ts';
import type { Registration } from '../../users/index.ts';
import type { ActiveProvider } from '../read-model.ts';
import type { Claims } from './assertion.ts';
import { SamlRefusal } from './refusal.ts';

export interface AccountDeps {
  readonly organizations: Repository<OrganizationState, OrganizationCommand, OrganizationEvent>;
  readonly registration: Registration;
  readonly userExists: (userId: string) => Promise<boolean>;
  readonly forget: ForgetPrincipal;
  /** Puts a new member into the team that its provider names; nothing when the team is gone. */
  readonly joinTeam: (
    organizationId: string,
    teamId: string,
    userId: string,
    metadata: CommandMetadata,
  ) => Promise<void>;
}

/**
 * Whether an organization's identity provider may speak for an email: for that of a member of the organization, and for
 * those of its email domains. What it thereby gets is the organization itself and nothing else: a session that it vouches
 * for reaches no other organization (`enforcement.ts`).
 */
export const mayVouchFor = (email: string, emailDomains: readonly string[], isMember: boolean): boolean =>
  isMember || emailDomains.includes(email.slice(email.lastIndexOf('@') + 1));

/**
 * Finds the person whom a verified assertion names, or creates it, and makes it a member of the provider's organization.
 * Repeating it changes nothing.
 * @returns the id of the user
 * @throws SamlRefusal for a person for whom the organization must not speak
 */
export const createAccounts =
  (deps: AccountDeps) =>
  async (provider: ActiveProvider, claims: Claims, metadata: CommandMetadata): Promise<string> => {
    const { organizationId } = provider;
    const email = normalizeEmail(claims.email);
    const [{ state: organization }, known] = await Promise.all([
      deps.organizations.load(organizationId),
      deps.registration.holderOf(email),
    ]);
    if (organization.status !== 'active') throw new SamlRefusal('account');
    const member = known === undefined ? undefined : memberIn(organization.roster, known);
    if (!mayVouchFor(email, organization.settings.emailDomains, member !== undefined)) throw new SamlRefusal('domain');

    const userId = known ?? createIdSource().id();
    if (known === undefined || !(await deps.userExists(known))) {
      const displayName = claims.displayName ?? (email.split('@')[0] ?? '').slice(0, 64);
      try {
        await deps.registration.register({ userId, email, displayName }, metadata);
      } catch (error) {
        // Somebody else took the address a moment ago, or its owner was erased: signing in again finds out who.
        if (isProblem(error) && error.kind === 'conflict') throw new SamlRefusal('account');
        throw error;
      }
    }
    if (member === undefined || !member.sso) await join(deps, provider, userId, member !== undefined, metadata);
    return userId;
  };

const join = async (
  deps: AccountDeps,
  { organizationId, defaultRole, defaultTeam }: ActiveProvider,
  userId: string,
  isMember: boolean,
  metadata: CommandMetadata,
): Promise<void> => {
  const data = { organizationId, userId, at: metadata.now.toISOString(), sso: true } as const;
  if (isMember) await deps.organizations.handle(organizationId, { type: 'SetMemberSso', data }, metadata);
  else {
    const joining = { ...data, role: defaultRole };
    await deps.organizations.handle(organizationId, { type: 'JoinOrganization', data: joining }, metadata);
    if (defaultTeam !== undefined) await deps.joinTeam(organizationId, defaultTeam, userId, metadata);
  }
  await deps.forget(userId);
};
