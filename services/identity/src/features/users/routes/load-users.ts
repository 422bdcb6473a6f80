import type { loadUsers } from '@bindery/contracts';
import type { OperationHandler } from '@bindery/service-kit';
import { presentUser } from '../presenter.ts';
import { type LiveUsers, usersById } from '../queries.ts';

/** Users for embedding, in the order asked for. */
export const loadUsersRoute =
  (deps: { readonly users: LiveUsers }): OperationHandler<typeof loadUsers> =>
  async ({ baseUrl }, { body }) => {
    const found = await usersById(deps.users, body.ids);
    return { status: 200, body: { users: [...found.values()].map((user) => presentUser(user, baseUrl)) } };
  };
