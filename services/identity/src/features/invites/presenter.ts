import { type createOrganizationInvite, loadCollections, loadSpaces } from '@bindery/contracts';
import {
  atLeast,
  type Membership,
  notFound,
  type OperationAnswer,
  type OperationContext,
  type ServiceClient,
} from '@bindery/service-kit';
import type { LinkGrant } from './links/events.ts';

type InviteLink = Extract<OperationAnswer<typeof createOrganizationInvite>, { status: 201 }>['body'];

/** A link that gives a role in the organization, as the API shows it to an administrator. */
export const presentRoleLink = (
  id: string,
  role: LinkGrant['role'],
  membership: Membership,
): Extract<InviteLink, { role: unknown }> => ({
  object: 'invite',
  id,
  role,
  redundant: role === null || atLeast(membership.role, role),
});

/**
 * A link as the API shows it to an administrator of the organization, who has all access to its content: what a link gives
 * on content is redundant to it.
 * @throws Problem 404 when the space or collection is gone, or of another organization
 */
export const presentLink = async (
  services: ServiceClient,
  context: OperationContext,
  membership: Membership,
  { id, organizationId, grant }: { readonly id: string; readonly organizationId: string; readonly grant: LinkGrant },
): Promise<InviteLink> => {
  if (grant.kind === 'organization') return presentRoleLink(id, grant.role, membership);
  const request = { params: {}, query: {}, body: { ids: [grant.id] } };
  const shown = { object: 'invite', id, level: grant.role, redundant: membership.role === 'admin' } as const;
  if (grant.kind === 'space') {
    const [space] = (await services.call(loadSpaces, context, request)).body.spaces;
    if (space?.organization !== organizationId) throw notFound('space');
    return { ...shown, space };
  }
  const [collection] = (await services.call(loadCollections, context, request)).body.collections;
  if (collection?.organization !== organizationId) throw notFound('collection');
  return { ...shown, collection };
};
