import { forbidden, type Membership, membershipIn, notFound, type Principal } from '@bindery/service-kit';
import { organizationPermissions } from '../organizations/index.ts';
import type { TeamRole } from './events.ts';

/**
 * What a member of the organization may do with a team; both what is enforced and what `permissions` shows. Administrators
 * and owners manage it, everybody but guests sees it, and guests see the teams that they are in.
 */
export const teamPermissions = (membership: Membership | undefined, teamId: string, role: TeamRole | undefined) => {
  const admin = membership?.role === 'admin' || (membership !== undefined && role === 'owner');
  const view =
    membership !== undefined &&
    (admin || organizationPermissions(membership).listTeams || membership.teams.includes(teamId));
  return { admin, view };
};

/**
 * The caller's membership.
 * @throws Problem 404 when the caller is not in the organization
 */
export const requireMembership = (principal: Principal, organizationId: string): Membership => {
  const membership = membershipIn(principal, organizationId);
  if (membership === undefined) throw notFound('organization');
  return membership;
};

/**
 * Refuses who may not see a team as if there were none, and who may not manage it with 403.
 * @throws Problem 404, 403
 */
export const requireTeam = (permissions: ReturnType<typeof teamPermissions>, need: 'view' | 'admin'): void => {
  if (!permissions.view) throw notFound('team');
  if (need === 'admin' && !permissions.admin)
    throw forbidden('team.managers_only', 'Only administrators of the organization and owners of the team manage it.');
};
