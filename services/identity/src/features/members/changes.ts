import { commandMetadata } from '@bindery/event-sourcing';
import { etagOf, notFound, type OperationContext } from '@bindery/service-kit';
import type { ForgetPrincipal } from '../../shared/ports.ts';
import type { MemberEvent, OrganizationCommand, OrganizationRepository } from '../organizations/index.ts';
import type { LastSeen } from './last-seen.ts';
import type { PresentMembers } from './presenter.ts';
import type { LiveMembers } from './queries.ts';
import { type MemberDocument, memberId } from './read-model.ts';

export interface MemberChangesDeps {
  readonly organizations: OrganizationRepository;
  readonly members: LiveMembers;
  readonly lastSeen: LastSeen;
  readonly present: PresentMembers;
  readonly forget: ForgetPrincipal;
}

export type MemberCommand = Extract<
  OrganizationCommand,
  { type: 'PutMember' | 'JoinOrganization' | 'ChangeMemberRole' | 'SetMemberSso' | 'RemoveMember' }
>;

/**
 * Changes a membership and lets the next request of that user know.
 * @returns what was written; empty when nothing changed
 */
export const changeMember = async (
  deps: Pick<MemberChangesDeps, 'organizations' | 'forget'>,
  context: OperationContext,
  command: MemberCommand,
): Promise<readonly MemberEvent[]> => {
  const { organizationId, userId } = command.data;
  const { events } = await deps.organizations.handle(organizationId, command, commandMetadata(context, organizationId));
  await deps.forget(userId);
  return events.filter((event) => event.type !== 'OrganizationCreated' && event.type !== 'OrganizationUpdated');
};

/** A member after a change, as it is read; patched by what was written when the read store could not take it. */
export const memberAfter = async (
  deps: Pick<MemberChangesDeps, 'members' | 'present'>,
  context: OperationContext,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  written: readonly MemberEvent[],
) => {
  const stored = (await deps.members().get(memberId(organizationId, userId)))?.document;
  const document = written.reduce(patched, stored);
  if (document === undefined) throw notFound('member');
  const [body] = await deps.present(context, organizationId, [document]);
  if (body === undefined) throw notFound('member');
  return { status: 200, body, etag: etagOf(document.version) } as const;
};

/** The document with an event applied that it may lack. */
const patched = (document: MemberDocument | undefined, event: MemberEvent): MemberDocument | undefined => {
  const { organizationId, userId, version } = event.data;
  if (event.type === 'MemberRemoved' || (document !== undefined && document.version >= version)) return document;
  if (event.type === 'MemberJoined') {
    const { role, joinedAt, sso = false } = event.data;
    return { organizationId, userId, role, roleFilter: role ?? 'guest', joinedAt, sso, version };
  }
  if (document === undefined) return undefined;
  if (event.type === 'MemberSsoChanged') return { ...document, sso: event.data.sso, version };
  return { ...document, role: event.data.role, roleFilter: event.data.role ?? 'guest', version };
};
