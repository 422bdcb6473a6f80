import { atLeast, type Membership } from '@bindery/service-kit';

/**
 * What a member may do with its organization; both what is enforced and what `permissions` shows (DESIGN section 7).
 * Guests (role null) see the organization and nothing of its people.
 */
export const organizationPermissions = ({ role }: Membership) => {
  const member = role !== null;
  const creator = atLeast(role, 'create');
  const admin = role === 'admin';
  return {
    view: true,
    access: true,
    admin,
    ownTeam: false,
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
