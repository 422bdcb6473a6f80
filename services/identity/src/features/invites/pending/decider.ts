import { limits } from '@bindery/contracts';
import { type AggregateDefinition, assertNever, ignoreUnknown } from '@bindery/event-sourcing';
import { conflict, type MemberRole, notFound } from '@bindery/service-kit';
import type { InvitationEvent } from './events.ts';

/** An invitation that waits. */
export interface PendingInvitation {
  readonly invitationId: string;
  readonly role: MemberRole | null;
  readonly sso: boolean;
  /** Since when it waits, as it is; ISO time. */
  readonly invitedAt: string;
}

/** The invitations of an address that wait, by organization: one each. Those that have expired are there until somebody looks. */
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

const waitMs = limits.invite.days * 86_400_000;

/** Whether an invitation has waited too long. */
export const isOver = ({ invitedAt }: Pick<PendingInvitation, 'invitedAt'>, now: string): boolean =>
  Date.parse(now) - Date.parse(invitedAt) >= waitMs;

/** The invitation of an organization, if it can be accepted. */
export const waiting = (
  { pending }: InvitationsState,
  organizationId: string,
  now: string,
): PendingInvitation | undefined => {
  const known = pending.get(organizationId);
  return known === undefined || isOver(known, now) ? undefined : known;
};

/** Prefix of the streams of invitations, one per address. */
export const invitationsAggregateName = 'identity.invitations';

const initialState = (): InvitationsState => ({ pending: new Map() });

const evolve = (state: InvitationsState, event: InvitationEvent): InvitationsState => {
  const pending = new Map(state.pending);
  switch (event.type) {
    case 'EmailInvited':
    case 'InvitationChanged': {
      const { organizationId, invitationId, role, sso } = event.data;
      const invitedAt = event.type === 'EmailInvited' ? event.data.invitedAt : event.data.changedAt;
      return { pending: pending.set(organizationId, { invitationId, role, sso, invitedAt }) };
    }
    case 'InvitationAccepted':
    case 'InvitationWithdrawn':
      pending.delete(event.data.organizationId);
      return { pending };
    default:
      return ignoreUnknown(state, event);
  }
};

const decide = (command: InvitationCommand, state: InvitationsState): readonly InvitationEvent[] => {
  const { emailDigest, organizationId, invitationId } = command.data;
  const known = state.pending.get(organizationId);
  switch (command.type) {
    case 'InviteEmail': {
      const { role, sso, invitedAt } = command.data;
      if (known === undefined || isOver(known, invitedAt)) {
        const others = [...state.pending.values()].filter((it) => !isOver(it, invitedAt));
        if (others.length >= limits.invite.pendingPerAddress)
          throw conflict('invite.too_many', 'Too many invitations wait for one of these addresses.');
        const over = known && { emailDigest, organizationId, invitationId: known.invitationId, withdrawnAt: invitedAt };
        return [
          ...(over ? [{ type: 'InvitationWithdrawn', data: { ...over, expired: true } } as const] : []),
          { type: 'EmailInvited', data: command.data },
        ];
      }
      if (known.role === role && known.sso === sso) return [];
      const changed = { emailDigest, organizationId, invitationId: known.invitationId };
      return [{ type: 'InvitationChanged', data: { ...changed, role, sso, changedAt: invitedAt } }];
    }
    case 'AcceptInvitation':
      return waiting(state, organizationId, command.data.acceptedAt)?.invitationId === invitationId
        ? [{ type: 'InvitationAccepted', data: command.data }]
        : [];
    case 'WithdrawInvitation':
      // Renewed, or gone already: nothing to put away.
      if (command.data.expired && !(known?.invitationId === invitationId && isOver(known, command.data.withdrawnAt)))
        return [];
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
