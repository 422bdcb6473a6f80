import type { createUser } from '@bindery/contracts';
import { type CommandMetadata, commandMetadata } from '@bindery/event-sourcing';
import { etagOf, type OperationHandler } from '@bindery/service-kit';
import { presentUser } from '../presenter.ts';
import type { LiveUsers } from '../queries.ts';
import type { Registration } from '../registration.ts';

/** POST /users of the administration */
export const createUserRoute =
  (deps: {
    readonly registration: Registration;
    readonly users: LiveUsers;
    /** Makes the new user a member where its address was invited; an administrator vouches for that. */
    readonly acceptPending: (
      user: { readonly userId: string; readonly email: string },
      metadata: CommandMetadata,
    ) => Promise<void>;
  }): OperationHandler<typeof createUser> =>
  async (context, { body }) => {
    const userId = context.ids.id();
    const metadata = commandMetadata(context);
    await deps.registration.register({ userId, ...body }, metadata);
    await deps.acceptPending({ userId, email: body.email }, metadata);
    const stored = await deps.users().get(userId);
    // Not there only when the read store failed after the append.
    const { email, displayName, photoURL } = stored?.document ?? { ...body, email: body.email.trim() };
    const user = { id: userId, displayName, ...(email && { email }), ...(photoURL && { photoURL }) };
    return {
      status: 201,
      body: presentUser(user, context.baseUrl),
      etag: etagOf(stored?.revision ?? 0),
      location: `${context.baseUrl}/v1/users/${userId}`,
    };
  };
