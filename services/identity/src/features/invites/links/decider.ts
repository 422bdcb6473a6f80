import { type AggregateDefinition, assertNever, ignoreUnknown } from '@bindery/event-sourcing';
import { conflict, invalid, type MemberRole, notFound } from '@bindery/service-kit';
import type { InviteLinkEvent, LinkGrant } from './events.ts';

/** What decisions about a link need. */
export type InviteLinkState =
  | { readonly status: 'none' }
  | { readonly status: 'deleted' }
  | { readonly status: 'active'; readonly organizationId: string; readonly grant: LinkGrant };

interface OfLink {
  readonly organizationId: string;
  readonly inviteId: string;
  readonly at: string;
}

/** Commands on one link. */
export type InviteLinkCommand =
  | {
      readonly type: 'CreateInviteLink';
      readonly data: OfLink & { readonly grant: LinkGrant; readonly createdBy: string };
    }
  | {
      readonly type: 'ChangeInviteLink';
      readonly data: OfLink & { readonly field: 'role' | 'level'; readonly role: MemberRole | null };
    }
  | { readonly type: 'DeleteInviteLink'; readonly data: OfLink };

/** Prefix of the streams of links, one each. */
export const inviteLinkAggregateName = 'identity.invite';

const initialState = (): InviteLinkState => ({ status: 'none' });

const evolve = (state: InviteLinkState, event: InviteLinkEvent): InviteLinkState => {
  switch (event.type) {
    case 'InviteLinkCreated':
    case 'InviteLinkChanged':
      return { status: 'active', organizationId: event.data.organizationId, grant: event.data.grant };
    case 'InviteLinkDeleted':
      return { status: 'deleted' };
    default:
      return ignoreUnknown(state, event);
  }
};

const decide = (command: InviteLinkCommand, state: InviteLinkState): readonly InviteLinkEvent[] => {
  const { organizationId, inviteId, at } = command.data;
  const link = { organizationId, inviteId };
  if (command.type === 'CreateInviteLink') {
    if (state.status === 'active' && state.organizationId === organizationId) return [];
    if (state.status !== 'none') throw conflict('invite.exists', 'An invite with this id exists.');
    const { grant, createdBy } = command.data;
    return [{ type: 'InviteLinkCreated', data: { ...link, grant, createdBy, createdAt: at } }];
  }
  if (state.status !== 'active' || state.organizationId !== organizationId) throw notFound('invite');
  switch (command.type) {
    case 'ChangeInviteLink': {
      const { field, role } = command.data;
      const { grant } = state;
      if ((grant.kind === 'organization') !== (field === 'role'))
        throw invalid(
          'invite.kind',
          grant.kind === 'organization'
            ? 'body.level: this link gives a role in the organization; change its role'
            : `body.role: this link gives a level on a ${grant.kind}; change its level`,
        );
      if (grant.role === role) return [];
      return [{ type: 'InviteLinkChanged', data: { ...link, grant: { ...grant, role }, changedAt: at } }];
    }
    case 'DeleteInviteLink':
      return [{ type: 'InviteLinkDeleted', data: { ...link, deletedAt: at } }];
    default:
      return assertNever(command);
  }
};

/** A link through which people join: one stream each, named by the secret that lets them in. */
export const inviteLinkAggregate: AggregateDefinition<InviteLinkState, InviteLinkCommand, InviteLinkEvent> = {
  name: inviteLinkAggregateName,
  decider: { initialState, decide, evolve },
};
