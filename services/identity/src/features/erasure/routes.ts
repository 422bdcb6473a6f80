import type { erasureOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { forbidden, type HandlersFor, holdsAccount, invalid, notFound } from '@bindery/service-kit';
import { normalizeEmail } from '../../shared/text.ts';
import type { LiveUsers } from '../users/index.ts';
import type { Erasure } from './erasure.ts';

export interface ErasureRouteDeps {
  readonly erasure: Erasure;
  readonly users: LiveUsers;
}

/** DELETE /user */
export const createOwnErasureHandlers = ({
  erasure,
  users,
}: ErasureRouteDeps): HandlersFor<Pick<typeof erasureOperations, 'deleteAuthenticatedUser'>> => ({
  async deleteAuthenticatedUser(context, { body }) {
    const { id } = context.principal;
    if (!holdsAccount(context.principal))
      throw forbidden('user.account', 'A session of an organization does not delete the account.');
    const email = (await users().get(id))?.document.email;
    if (email === undefined) throw notFound('user');
    if (normalizeEmail(body.confirmation) !== normalizeEmail(email))
      throw invalid('user.confirmation', 'confirmation: must be the email of the account that is to be deleted');
    await erasure.erase(id, commandMetadata(context));
    return { status: 204 };
  },
});

/** DELETE /users/{userId} of the administration */
export const createErasureHandlers = ({
  erasure,
}: ErasureRouteDeps): HandlersFor<Pick<typeof erasureOperations, 'deleteUser'>> => ({
  async deleteUser(context, { params: { userId } }) {
    await erasure.erase(userId, commandMetadata(context));
    return { status: 204 };
  },
});
