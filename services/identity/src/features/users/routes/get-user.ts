import type { getAuthenticatedUser, getUserById } from '@bindery/contracts';
import { etagOf, notFound, type OperationHandler, type Principal } from '@bindery/service-kit';
import { presentUser } from '../presenter.ts';
import type { LiveUsers } from '../queries.ts';

/** Whether two people meet in an organization. */
export type SharesOrganization = (principal: Principal, userId: string) => Promise<boolean>;

export interface GetUserDeps {
  readonly users: LiveUsers;
  readonly sharesOrganization: SharesOrganization;
}

/** Who may see a user: itself, whoever shares an organization with it, and instance administrators. */
export const maySeeUser = async (
  principal: Principal,
  userId: string,
  sharesOrganization: SharesOrganization,
): Promise<boolean> =>
  principal.id === userId || principal.instanceAdmin || (await sharesOrganization(principal, userId));

/** GET /user */
export const getAuthenticatedUserRoute =
  ({ users }: Pick<GetUserDeps, 'users'>): OperationHandler<typeof getAuthenticatedUser> =>
  async ({ principal, baseUrl }) => {
    const user = await users().get(principal.id);
    if (user === undefined) throw notFound('user');
    return { status: 200, body: presentUser(user.document, baseUrl), etag: etagOf(user.revision) };
  };

/** GET /users/{userId} */
export const getUserByIdRoute =
  ({ users, sharesOrganization }: GetUserDeps): OperationHandler<typeof getUserById> =>
  async ({ principal, baseUrl }, { params: { userId } }) => {
    const user = await users().get(userId);
    if (user === undefined || !(await maySeeUser(principal, userId, sharesOrganization))) throw notFound('user');
    return { status: 200, body: presentUser(user.document, baseUrl), etag: etagOf(user.revision) };
  };
