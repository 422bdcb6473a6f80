import type { putOrganizationMember } from '@bindery/contracts';
import { notFound, type OperationHandler } from '@bindery/service-kit';
import { changeMember, type MemberChangesDeps, memberAfter } from '../changes.ts';

/** PUT /orgs/{organizationId}/members/{userId} of the administration */
export const putMemberRoute =
  (
    deps: MemberChangesDeps & { readonly userExists: (userId: string) => Promise<boolean> },
  ): OperationHandler<typeof putOrganizationMember> =>
  async (context, { params, body: { role }, ifMatch }) => {
    if (!(await deps.userExists(params.userId))) throw notFound('user');
    const data = { ...params, role, at: context.now.toISOString(), ...(ifMatch === undefined ? {} : { ifMatch }) };
    const written = await changeMember(deps, context, { type: 'PutMember', data });
    return memberAfter(deps, context, params, written);
  };
