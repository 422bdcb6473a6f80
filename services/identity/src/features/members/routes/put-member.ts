import type { putOrganizationMember } from '@bindery/contracts';
import { commandMetadata, type Repository } from '@bindery/event-sourcing';
import { etagOf, notFound, type OperationHandler } from '@bindery/service-kit';
import type { ForgetPrincipal, MembersChanged } from '../../../shared/ports.ts';
import type { OrganizationCommand, OrganizationEvent, OrganizationState } from '../../organizations/index.ts';
import type { LastSeen } from '../last-seen.ts';
import { presentMember } from '../presenter.ts';
import type { LiveMembers } from '../queries.ts';
import { memberId } from '../read-model.ts';

/** PUT /orgs/{organizationId}/members/{userId} of the administration */
export const putMemberRoute =
  (deps: {
    readonly organizations: Repository<OrganizationState, OrganizationCommand, OrganizationEvent>;
    readonly members: LiveMembers;
    readonly lastSeen: LastSeen;
    readonly userExists: (userId: string) => Promise<boolean>;
    readonly forget: ForgetPrincipal;
    readonly membersChanged: MembersChanged;
  }): OperationHandler<typeof putOrganizationMember> =>
  async (context, { params: { organizationId, userId }, body: { role }, ifMatch }) => {
    if (!(await deps.userExists(userId))) throw notFound('user');
    const at = context.now.toISOString();
    const data = { organizationId, userId, role, at, ...(ifMatch === undefined ? {} : { ifMatch }) };
    const metadata = commandMetadata(context, organizationId);
    const { events } = await deps.organizations.handle(organizationId, { type: 'PutMember', data }, metadata);
    await deps.membersChanged(organizationId);
    await deps.forget(userId);
    const stored = await deps.members().get(memberId(organizationId, userId));
    const seen = await deps.lastSeen.of(organizationId, [userId]);
    const written = events.findLast(({ type }) => type !== 'OrganizationCreated');
    // Behind only when the read store failed after the append.
    const behind = written !== undefined && (stored === undefined || stored.revision < written.revision);
    const joinedAt = stored?.document.joinedAt ?? at;
    const version = behind && 'version' in written.data ? written.data.version : (stored?.document.version ?? 1);
    const member = { userId, role: behind ? role : (stored?.document.role ?? role), joinedAt };
    return { status: 200, body: presentMember(member, seen.get(userId)), etag: etagOf(version) };
  };
