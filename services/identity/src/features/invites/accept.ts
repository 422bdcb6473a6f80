import { type CommandMetadata, deriveEventId, type Repository } from '@bindery/event-sourcing';
import { isProblem } from '@bindery/service-kit';
import type { KeyStore } from '../../shared/key-store.ts';
import { normalizeEmail } from '../../shared/text.ts';
import type { Vault } from '../../shared/vault.ts';
import { type AdmitDeps, admit } from './admit.ts';
import { type InvitationCommand, type InvitationsState, isOver } from './pending/decider.ts';
import { type InvitationEvent, invitationKey } from './pending/events.ts';

export interface AcceptDeps extends AdmitDeps {
  readonly invitations: Repository<InvitationsState, InvitationCommand, InvitationEvent>;
  readonly keys: KeyStore;
  readonly vault: Vault;
}

/**
 * Makes somebody a member of every organization that invited its address. To be called when it is known that the address
 * is the user's own (made by an administrator, confirmed by a mail, vouched for by the provider of the instance), never for
 * one that somebody merely typed, or that the SAML provider of one organization names: that speaks for no other. Costs one look at a stream when nothing waits. Repeating it changes nothing, so it may be called
 * at every sign-in, which also completes what a crash left behind.
 */
export type AcceptPending = (
  user: { readonly userId: string; readonly email: string },
  metadata: CommandMetadata,
) => Promise<void>;

export const createAcceptPending =
  (deps: AcceptDeps): AcceptPending =>
  async ({ userId, email }, metadata) => {
    const emailDigest = deps.vault.emailDigest(normalizeEmail(email));
    const { state } = await deps.invitations.load(emailDigest);
    const at = metadata.now.toISOString();
    for (const [organizationId, invitation] of state.pending) {
      const { invitationId, role, sso } = invitation;
      const step = (name: string): CommandMetadata => {
        const seed = deriveEventId(metadata.eventId(), `${name}/${invitationId}`);
        return { ...metadata, organizationId, eventId: () => seed };
      };
      if (isOver(invitation, at)) {
        const over = { emailDigest, organizationId, invitationId, withdrawnAt: at, expired: true } as const;
        await deps.invitations.handle(emailDigest, { type: 'WithdrawInvitation', data: over }, step('expire'));
        continue;
      }
      try {
        await admit(deps, { organizationId, userId, role, sso, at }, step('admit'));
      } catch (error) {
        // The organization is gone: so is what it offered.
        if (!isProblem(error) || error.kind !== 'not-found') throw error;
      }
      const data = { emailDigest, organizationId, invitationId, userId, acceptedAt: at };
      await deps.invitations.handle(emailDigest, { type: 'AcceptInvitation', data }, step('accept'));
      await deps.keys.destroy(invitationKey(invitationId));
    }
  };
