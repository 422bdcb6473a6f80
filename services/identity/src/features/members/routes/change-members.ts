import type {
  removeMemberFromOrganizationById,
  setUserAsSSOMemberForOrganization,
  updateMemberInOrganizationById,
} from '@bindery/contracts';
import { conflict, membershipIn, notFound, type OperationHandler, requireIfMatch } from '@bindery/service-kit';
import type { HasActiveProvider } from '../../../shared/ports.ts';
import { requireAdministrator } from '../../organizations/index.ts';
import { changeMember, type MemberChangesDeps, memberAfter } from '../changes.ts';

const matching = (ifMatch: string | undefined) => (ifMatch === undefined ? {} : { ifMatch });

/** PATCH /orgs/{organizationId}/members/{userId} */
export const updateMemberRoute =
  (deps: MemberChangesDeps): OperationHandler<typeof updateMemberInOrganizationById> =>
  async (context, { params, body: { role }, ifMatch }) => {
    requireAdministrator(context.principal, params.organizationId);
    if (role === undefined) {
      const unchanged = await memberAfter(deps, context, params, []);
      requireIfMatch(matching(ifMatch), unchanged.etag);
      return unchanged;
    }
    const data = { ...params, role, at: context.now.toISOString(), ...matching(ifMatch) };
    const written = await changeMember(deps, context, { type: 'ChangeMemberRole', data });
    return memberAfter(deps, context, params, written);
  };

/** DELETE /orgs/{organizationId}/members/{userId} */
export const removeMemberRoute =
  (deps: MemberChangesDeps): OperationHandler<typeof removeMemberFromOrganizationById> =>
  async (context, { params, ifMatch }) => {
    const { organizationId, userId } = params;
    // Whoever is in may leave; others are removed by administrators.
    if (userId !== context.principal.id) requireAdministrator(context.principal, organizationId);
    else if (membershipIn(context.principal, organizationId) === undefined) throw notFound('organization');
    const data = { ...params, at: context.now.toISOString(), ...matching(ifMatch) };
    const written = await changeMember(deps, context, { type: 'RemoveMember', data });
    if (written.length === 0) return { status: 204 };
    await deps.lastSeen.forget(organizationId, userId);
    return { status: 205 };
  };

/** POST /orgs/{organizationId}/members/{userId}/sso */
export const setSsoMemberRoute =
  (
    deps: MemberChangesDeps & { readonly hasActiveProvider: HasActiveProvider },
  ): OperationHandler<typeof setUserAsSSOMemberForOrganization> =>
  async (context, { params, ifMatch }) => {
    requireAdministrator(context.principal, params.organizationId);
    if (!(await deps.hasActiveProvider(params.organizationId)))
      throw conflict(
        'organization.no_sso_provider',
        'The organization has no active SAML provider to sign in through.',
      );
    const data = { ...params, sso: true, at: context.now.toISOString(), ...matching(ifMatch) };
    const written = await changeMember(deps, context, { type: 'SetMemberSso', data });
    return memberAfter(deps, context, params, written);
  };
