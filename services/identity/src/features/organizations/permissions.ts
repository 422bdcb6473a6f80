import { atLeast, forbidden, type Membership, membershipIn, notFound, type Principal } from '@bindery/service-kit';

/**
 * What a member may do with its organization; both what is enforced and what `permissions` shows (DESIGN section 7).
 * Guests (role null) see the organization and nothing of its people.
 * @param ownTeam whether it owns a team there; only shown, teams enforce it themselves
 */
export const organizationPermissions = ({ role }: Membership, ownTeam = false) => {
  const member = role !== null;
  const creator = atLeast(role, 'create');
  const admin = role === 'admin';
  return {
    view: true,
    access: true,
    admin,
    ownTeam,
    createContent: creator,
    createOpenAPISpec: creator,
    viewBilling: admin,
    listMembers: member,
    listTeams: member,
    listIntegrations: member,
    listInstallations: member,
    installIntegration: admin,
    ingestConversations: creator,
  };
};

/** Of somebody who does not belong to the organization. */
export const noPermissions: ReturnType<typeof organizationPermissions> = {
  view: false,
  access: false,
  admin: false,
  ownTeam: false,
  createContent: false,
  createOpenAPISpec: false,
  viewBilling: false,
  listMembers: false,
  listTeams: false,
  listIntegrations: false,
  listInstallations: false,
  installIntegration: false,
  ingestConversations: false,
};

/**
 * The membership of a caller who administers the organization.
 * @throws Problem 404 for those who do not belong to it, 403 for those who do not administer it
 */
export const requireAdministrator = (principal: Principal, organizationId: string): Membership => {
  const membership = membershipIn(principal, organizationId);
  if (membership === undefined) throw notFound('organization');
  if (!organizationPermissions(membership).admin)
    throw forbidden('organization.administrators_only', 'Only administrators of the organization may do this.');
  return membership;
};
