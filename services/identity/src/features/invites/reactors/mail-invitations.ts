import type { DomainEvent, Reactor, Recorded, Repository } from '@bindery/event-sourcing';
import { isMailAddress, type Mailer } from '@bindery/mail';
import type { Logger } from '@bindery/telemetry';
import { erasedDisplayName, type PersonalDataSealer } from '../../../shared/personal-data.ts';
import { invitationMail } from '../../mail/index.ts';
import type { LiveOrganizations } from '../../organizations/index.ts';
import { type LiveUsers, usersById } from '../../users/index.ts';
import { type InvitationCommand, type InvitationsState, invitationsAggregateName } from '../pending/decider.ts';
import { type InvitationEvent, invitationKey, invitationPurpose } from '../pending/events.ts';

export interface MailInvitationsDeps {
  readonly invitations: Repository<InvitationsState, InvitationCommand, InvitationEvent>;
  readonly sealer: PersonalDataSealer;
  readonly organizations: LiveOrganizations;
  readonly users: LiveUsers;
  /** Absent: nobody is told; invitations wait all the same. */
  readonly mailer: Mailer | undefined;
  /** Address of the instance, without a trailing slash; empty while it starts. */
  readonly publicUrl: () => string;
  readonly logger: Logger;
}

/**
 * Sends a mail to who was invited. When the mail server is away the invitation is put aside and tried again; sent twice it
 * has the same Message-ID, which is the id of the event.
 * @param deps asked for at the first event: repositories exist only once the runtime does, which is given the reactor
 */
export const mailInvitationsReactor = (deps: () => MailInvitationsDeps): Reactor => ({
  name: 'mail-invitations',
  aggregates: [invitationsAggregateName],
  handles: ['EmailInvited'],
  react: async (event: Recorded<DomainEvent>, signal) => {
    const { invitations, sealer, organizations, users, mailer, publicUrl, logger } = deps();
    if (mailer === undefined) return;
    const { data } = event as Recorded<Extract<InvitationEvent, { type: 'EmailInvited' }>>;
    const { emailDigest, organizationId, invitationId, sealedEmail, invitedBy } = data;
    const { state } = await invitations.load(emailDigest);
    // Accepted or withdrawn meanwhile.
    if (state.pending.get(organizationId)?.invitationId !== invitationId) return;
    const to = await sealer.openText(invitationKey(invitationId), invitationPurpose(invitationId), sealedEmail);
    const organization = await organizations().get(organizationId);
    if (to === undefined || organization === undefined) return;
    // Invited before such addresses were refused: trying again would change nothing.
    if (!isMailAddress(to)) {
      logger.warn('nobody can be mailed at the address of an invitation', { organizationId, invitationId });
      return;
    }
    const url = publicUrl();
    // Just starting: the address is known in a moment, and the invitation is tried again.
    if (url === '') throw new Error('the address of the instance is not known yet');
    const inviter = (await usersById(users, [invitedBy])).get(invitedBy)?.displayName ?? erasedDisplayName;
    const text = invitationMail({ organization: organization.document.title, inviter, url });
    const outcome = await mailer.send({ id: event.id, to, ...text }, signal);
    if (outcome === 'refused') logger.warn('the mail server refused an invitation', { organizationId, invitationId });
  },
});
