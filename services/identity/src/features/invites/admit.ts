import type { CommandMetadata, Repository } from '@bindery/event-sourcing';
import { type MemberRole, maxRole, notFound, roleRank } from '@bindery/service-kit';
import type { ForgetPrincipal } from '../../shared/ports.ts';
import {
  memberIn,
  type OrganizationCommand,
  type OrganizationEvent,
  type OrganizationState,
} from '../organizations/index.ts';

export interface AdmitDeps {
  readonly organizations: Repository<OrganizationState, OrganizationCommand, OrganizationEvent>;
  readonly forget: ForgetPrincipal;
}

/** Who is to be a member, with at least which role. */
export interface Admission {
  readonly organizationId: string;
  readonly userId: string;
  readonly role: MemberRole | null;
  /** It signs in through SSO; only for who joins. */
  readonly sso?: boolean;
  readonly at: string;
}

/**
 * Makes somebody a member, or gives a member a higher role; nobody loses anything by an invite. Repeating it changes
 * nothing.
 * @throws Problem 404 when there is no such organization
 */
export const admit = async (
  { organizations, forget }: AdmitDeps,
  { organizationId, userId, role, sso = false, at }: Admission,
  metadata: CommandMetadata,
): Promise<void> => {
  await organizations.handle(
    organizationId,
    (state): OrganizationCommand => {
      if (state.status !== 'active') throw notFound('organization');
      const member = memberIn(state.roster, userId);
      const data = { organizationId, userId, at };
      if (member === undefined || roleRank(member.role) >= roleRank(role))
        return { type: 'JoinOrganization', data: { ...data, role, ...(sso ? { sso } : {}) } };
      return { type: 'ChangeMemberRole', data: { ...data, role: maxRole(member.role, role) } };
    },
    metadata,
  );
  await forget(userId);
};
