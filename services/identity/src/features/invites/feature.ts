import type { inviteOperations } from '@bindery/contracts';
import type { HandlersFor } from '@bindery/service-kit';
import { createAcceptPending } from './accept.ts';
import type { InviteRoutesDeps } from './deps.ts';
import { inviteUsersRoute } from './routes/invite-users.ts';
import { joinRoute } from './routes/join.ts';
import { createLinkRoute, deleteLinkRoute, getLinkRoute, listLinksRoute, updateLinkRoute } from './routes/links.ts';

/** Invites: their operations, and what signing in calls. */
export const createInvitesFeature = (deps: InviteRoutesDeps) => {
  const handlers: HandlersFor<typeof inviteOperations> = {
    createOrganizationInvite: createLinkRoute(deps),
    listOrganizationInviteLinks: listLinksRoute(deps),
    getOrganizationInviteLink: getLinkRoute(deps),
    updateOrganizationInviteById: updateLinkRoute(deps),
    deleteOrganizationInviteById: deleteLinkRoute(deps),
    joinOrganizationWithInvite: joinRoute(deps),
    inviteUsersToOrganization: inviteUsersRoute(deps),
  };
  return { handlers, acceptPending: createAcceptPending(deps) };
};
