import { limits } from '@bindery/contracts';
import { type AggregateDefinition, assertNever, ignoreUnknown } from '@bindery/event-sourcing';
import { conflict, type MemberRole, notFound } from '@bindery/service-kit';
import type { InvitationEvent } from './events.ts';

/** An invitation that waits. */
export interface PendingInvitation {
  readonly invitationId: string;
  readonly role: MemberRole | null;
  readonly sso: boolean;
}

/** The invitations of an address that wait, by organization: one each. */
export interface InvitationsState {
  readonly pending: ReadonlyMap<string, PendingInvitation>;
}

type EventData<T extends InvitationEvent['type']> = Extract<InvitationEvent, { type: T }>['data'];

/** Commands on the invitations of one address. */
export type InvitationCommand =
  /** Invites, or gives an invitation that waits what this one says. */
  | { readonly type: 'InviteEmail'; readonly data: EventData<'EmailInvited'> }
  | { readonly type: 'AcceptInvitation'; readonly data: EventData<'InvitationAccepted'> }
  | { readonly type: 'WithdrawInvitation'; readonly data: EventData<'InvitationWithdrawn'> };

/** Prefix of the streams of invitations, one per address. */
export const invitationsAggregateName = 'identity.invitations';

const initialState = (): InvitationsState => ({ pending: new Map() });

const evolve = (state: InvitationsState, event: InvitationEvent): InvitationsState => {
  const pending = new Map(state.pending);
  switch (event.type) {
    case 'EmailInvited':
    case 'InvitationChanged': {
      const { organizationId, invitationId, role, sso } = event.data;
      return { pending: pending.set(organizationId, { invitationId, role, sso }) };
    }
    case 'InvitationAccepted':
    case 'InvitationWithdrawn':
      pending.delete(event.data.organizationId);
      return { pending };
    default:
      return ignoreUnknown(state, event);
  }
};

const decide = (command: InvitationCommand, { pending }: InvitationsState): readonly InvitationEvent[] => {
  const { emailDigest, organizationId, invitationId } = command.data;
  const known = pending.get(organizationId);
  switch (command.type) {
    case 'InviteEmail': {
      const { role, sso, invitedAt } = command.data;
      if (known === undefined) {
        if (pending.size >= limits.invite.pendingPerAddress)
          throw conflict('invite.too_many', 'Too many invitations wait for one of these addresses.');
        return [{ type: 'EmailInvited', data: command.data }];
      }
      if (known.role === role && known.sso === sso) return [];
      const changed = { emailDigest, organizationId, invitationId: known.invitationId };
      return [{ type: 'InvitationChanged', data: { ...changed, role, sso, changedAt: invitedAt } }];
    }
    case 'AcceptInvitation':
      return known?.invitationId === invitationId ? [{ type: 'InvitationAccepted', data: command.data }] : [];
    case 'WithdrawInvitation':
      if (known?.invitationId !== invitationId) throw notFound('invite');
      return [{ type: 'InvitationWithdrawn', data: command.data }];
    default:
      return assertNever(command);
  }
};

/** The invitations of an address: one stream, so that signing in finds all of them without a list of addresses. */
export const invitationsAggregate: AggregateDefinition<InvitationsState, InvitationCommand, InvitationEvent> = {
  name: invitationsAggregateName,
  decider: { initialState, decide, evolve },
};
