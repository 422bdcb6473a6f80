import type { updateUserById } from '@bindery/contracts';
import { commandMetadata, type Repository } from '@bindery/event-sourcing';
import { etagOf, forbidden, holdsAccount, notFound, type OperationHandler, requireIfMatch } from '@bindery/service-kit';
import type { PersonalDataSealer } from '../../../shared/personal-data.ts';
import { type ProfileChanged, withKnownEventId } from '../../../shared/ports.ts';
import { type UserCommand, userAggregate } from '../decider.ts';
import type { UserEvent } from '../events.ts';
import { presentUser } from '../presenter.ts';
import type { UserState } from '../state.ts';
import { type GetUserDeps, maySeeUser } from './get-user.ts';

export interface UpdateUserDeps extends GetUserDeps {
  readonly repository: Repository<UserState, UserCommand, UserEvent>;
  readonly sealer: PersonalDataSealer;
  readonly profileChanged: ProfileChanged;
}

/** PATCH /users/{userId} */
export const updateUserRoute =
  (deps: UpdateUserDeps): OperationHandler<typeof updateUserById> =>
  async (context, { params: { userId }, body, ifMatch }) => {
    const { principal, baseUrl } = context;
    const user = await deps.users().get(userId);
    if (user === undefined || !(await maySeeUser(principal, userId, deps.sharesOrganization))) throw notFound('user');
    if (principal.id !== userId && !principal.instanceAdmin)
      throw forbidden('user.not_self', 'Only users themselves and instance administrators change a user.');
    // All organizations of the user see its name; what one of them says about who is signed in does not change it.
    if (!holdsAccount(principal))
      throw forbidden('user.account', 'A session of an organization does not change the account.');
    requireIfMatch(ifMatch === undefined ? {} : { ifMatch }, etagOf(user.revision));
    const bound = withKnownEventId(commandMetadata(context), {
      aggregate: userAggregate,
      id: userId,
      type: 'ChangeUserProfile',
    });
    const personal = await deps.sealer.seal(userId, bound.eventId, body);
    const { revision } = await deps.repository.handle(
      userId,
      { type: 'ChangeUserProfile', data: { userId, personal, changedAt: context.now.toISOString() } },
      bound.metadata,
      ifMatch === undefined || ifMatch === '*' ? {} : { expectedRevision: user.revision },
    );
    await deps.profileChanged();
    const now = await deps.users().get(userId);
    // Behind only when the read store failed after the append: then the answer is what was written.
    if (now === undefined || now.revision < revision)
      return { status: 200, body: presentUser({ ...user.document, ...body }, baseUrl), etag: etagOf(revision) };
    return { status: 200, body: presentUser(now.document, baseUrl), etag: etagOf(now.revision) };
  };
