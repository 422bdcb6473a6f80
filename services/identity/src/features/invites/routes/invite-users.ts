import type { inviteUsersToOrganization } from '@bindery/contracts';
import { type CommandMetadata, commandMetadata, deriveEventId } from '@bindery/event-sourcing';
import { invalid, type MemberRole, notFound, type OperationContext, type OperationHandler } from '@bindery/service-kit';
import { normalizeEmail } from '../../../shared/text.ts';
import { requireAdministrator } from '../../organizations/index.ts';
import { admit } from '../admit.ts';
import type { InviteRoutesDeps } from '../deps.ts';
import { waiting } from '../pending/decider.ts';
import { invitationKey, invitationPurpose } from '../pending/events.ts';

type Body = Parameters<OperationHandler<typeof inviteUsersToOrganization>>[1]['body'];

interface Invitee {
  /** As it was given. */
  readonly email: string;
  readonly role: MemberRole | null;
}

/**
 * Everybody once, by the normalized address.
 * @throws Problem 400 for an address with two roles
 */
const inviteesOf = ({ emails, role }: Body, defaultRole: MemberRole | null): ReadonlyMap<string, Invitee> => {
  const usual = role === undefined ? defaultRole : role;
  const invitees = new Map<string, Invitee>();
  for (const [index, item] of emails.entries()) {
    const invitee = typeof item === 'string' ? { email: item, role: usual } : item;
    const normalized = normalizeEmail(invitee.email);
    const known = invitees.get(normalized);
    if (known !== undefined && known.role !== invitee.role)
      throw invalid('invite.two_roles', `body.emails[${index}]: the same address was given another role before`);
    if (known === undefined) invitees.set(normalized, invitee);
  }
  return invitees;
};

const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1);

/** POST /orgs/{organizationId}/invites */
export const inviteUsersRoute =
  (deps: InviteRoutesDeps): OperationHandler<typeof inviteUsersToOrganization> =>
  async (context, { params: { organizationId }, body }) => {
    requireAdministrator(context.principal, organizationId);
    const { state } = await deps.organizations.load(organizationId);
    if (state.status !== 'active') throw notFound('organization');
    const { defaultRole, emailDomains } = state.settings;
    const sso = body.sso === true;
    const provider = sso && (await deps.hasActiveProvider(organizationId));
    const metadata = commandMetadata(context, organizationId);
    const users: string[] = [];
    const failedSSOEmails: string[] = [];
    let invited = 0;
    for (const [normalized, { email, role }] of inviteesOf(body, defaultRole)) {
      if (sso && !(provider && emailDomains.includes(domainOf(normalized)))) {
        failedSSOEmails.push(email);
        continue;
      }
      const userId = await deps.userOfEmail(normalized);
      if (userId !== undefined && (await deps.userExists(userId))) {
        const at = context.now.toISOString();
        await admit(deps, { organizationId, userId, role, sso, at }, stepOf(metadata, `admit/${userId}`));
        users.push(userId);
      } else {
        await invite(deps, context, organizationId, { normalized, role, sso });
        invited += 1;
      }
    }
    return { status: 200, body: { users, invited, ...(sso ? { failedSSOEmails } : {}) } };
  };

/** Each step has ids of its own, whichever steps a repeat leaves out. */
const stepOf = (metadata: CommandMetadata, name: string): CommandMetadata => {
  const seed = deriveEventId(metadata.eventId(), name);
  return { ...metadata, eventId: () => seed };
};

const invite = async (
  deps: InviteRoutesDeps,
  context: OperationContext,
  organizationId: string,
  invitee: { readonly normalized: string; readonly role: MemberRole | null; readonly sso: boolean },
): Promise<void> => {
  const { normalized, role, sso } = invitee;
  const emailDigest = deps.vault.emailDigest(normalized);
  const invitedAt = context.now.toISOString();
  const known = waiting((await deps.invitations.load(emailDigest)).state, organizationId, invitedAt);
  const invitationId = known?.invitationId ?? context.ids.id();
  const key = invitationKey(invitationId);
  // An invitation that waits keeps its own address; nothing is sealed for it again.
  const sealedEmail =
    known === undefined ? await deps.sealer.sealText(key, invitationPurpose(invitationId), normalized) : '';
  const person = { emailDigest, organizationId, invitationId, sealedEmail, role, sso };
  const data = { ...person, invitedBy: context.principal.id, invitedAt };
  const metadata = commandMetadata(context, organizationId);
  const { state } = await deps.invitations.handle(
    emailDigest,
    (present) => {
      // Accepted or withdrawn since the look above: there is no address to invite anew with.
      if (sealedEmail === '' && waiting(present, organizationId, invitedAt) === undefined)
        throw invalid('invite.busy', 'body.emails: one of these invitations has just ended; repeat the request');
      return { type: 'InviteEmail', data };
    },
    metadata,
  );
  // Another request was first: nobody will ever use this key.
  if (known === undefined && state.pending.get(organizationId)?.invitationId !== invitationId)
    await deps.keys.destroy(key);
};
