import { limits } from '@bindery/contracts';
import { describe, test } from '@jest/globals';
import { at, later, specificationOf } from '../../testing.ts';
import { inviteLinkAggregate } from './links/decider.ts';
import type { InviteLinkEvent } from './links/events.ts';
import { invitationsAggregate } from './pending/decider.ts';
import type { InvitationEvent } from './pending/events.ts';

describe('a link', () => {
  const given = specificationOf(inviteLinkAggregate.decider);
  const link = { organizationId: 'o', inviteId: 'i' };
  const grant = { kind: 'organization', role: 'read' } as const;
  const onSpace = { kind: 'space', id: 's', role: 'read' } as const;
  const created = (what: typeof grant | typeof onSpace = grant): InviteLinkEvent => ({
    type: 'InviteLinkCreated',
    data: { ...link, grant: what, createdBy: 'a', createdAt: at },
  });
  const deleted: InviteLinkEvent = { type: 'InviteLinkDeleted', data: { ...link, deletedAt: at } };
  const create = { type: 'CreateInviteLink', data: { ...link, grant, createdBy: 'a', at } } as const;
  const change = (field: 'role' | 'level', role: 'edit' | 'read') =>
    ({ type: 'ChangeInviteLink', data: { ...link, field, role, at: later } }) as const;

  test('is created once, and its id is never used again', () => {
    given().when(create).thenEvents(created());
    given(created()).when(create).thenNothing();
    given(created(), deleted).when(create).thenRefused('conflict', 'invite.exists');
  });
  test('is changed by the field that it has', () => {
    given(created())
      .when(change('role', 'edit'))
      .thenEvents({
        type: 'InviteLinkChanged',
        data: { ...link, grant: { ...grant, role: 'edit' }, changedAt: later },
      });
    given(created(onSpace))
      .when(change('level', 'edit'))
      .thenEvents({
        type: 'InviteLinkChanged',
        data: { ...link, grant: { ...onSpace, role: 'edit' }, changedAt: later },
      });
    given(created()).when(change('role', 'read')).thenNothing();
    given(created()).when(change('level', 'edit')).thenRefused('invalid', 'invite.kind');
    given(created(onSpace)).when(change('role', 'edit')).thenRefused('invalid', 'invite.kind');
  });
  test('is deleted once, by its own organization', () => {
    const remove = { type: 'DeleteInviteLink', data: { ...link, at: later } } as const;
    given(created())
      .when(remove)
      .thenEvents({ type: 'InviteLinkDeleted', data: { ...link, deletedAt: later } });
    given(created(), deleted).when(remove).thenRefused('not-found', 'invite.not_found');
    const foreign = { ...remove, data: { ...remove.data, organizationId: 'p' } };
    given(created()).when(foreign).thenRefused('not-found', 'invite.not_found');
  });
});

describe('an invitation', () => {
  const given = specificationOf(invitationsAggregate.decider);
  const person = { emailDigest: 'd', organizationId: 'o', invitationId: 'i' };
  const invited = (changes: Partial<typeof person> = {}): Extract<InvitationEvent, { type: 'EmailInvited' }> => ({
    type: 'EmailInvited',
    data: { ...person, ...changes, sealedEmail: 'x', role: 'read', sso: false, invitedBy: 'a', invitedAt: at },
  });
  const invite = (changes: Partial<typeof person> & { role?: 'edit' | 'read' } = {}) =>
    ({ type: 'InviteEmail', data: { ...invited().data, ...changes } }) as const;
  const accepted: InvitationEvent = { type: 'InvitationAccepted', data: { ...person, userId: 'u', acceptedAt: at } };

  test('waits once in every organization', () => {
    given().when(invite()).thenEvents(invited());
    given(invited()).when(invite()).thenNothing();
    given(invited())
      .when(invite({ organizationId: 'p', invitationId: 'j' }))
      .thenEvents(invited({ organizationId: 'p', invitationId: 'j' }));
  });
  test('asked for again keeps its id and takes the new role', () => {
    given(invited())
      .when(invite({ invitationId: 'other', role: 'edit' }))
      .thenEvents({ type: 'InvitationChanged', data: { ...person, role: 'edit', sso: false, changedAt: at } });
  });
  test('is accepted once, and can be made anew', () => {
    const accept = { type: 'AcceptInvitation', data: accepted.data } as const;
    given(invited()).when(accept).thenEvents(accepted);
    given(invited(), accepted).when(accept).thenNothing();
    given(invited(), accepted)
      .when(invite({ invitationId: 'j' }))
      .thenEvents(invited({ invitationId: 'j' }));
  });
  test('is withdrawn while it waits', () => {
    const data = { ...person, withdrawnAt: later };
    const withdraw = { type: 'WithdrawInvitation', data } as const;
    given(invited()).when(withdraw).thenEvents({ type: 'InvitationWithdrawn', data });
    given(invited(), accepted).when(withdraw).thenRefused('not-found', 'invite.not_found');
    given().when(withdraw).thenRefused('not-found', 'invite.not_found');
  });
  test('expires: it lets nobody in, and makes room for a new one', () => {
    const after = (days: number, more = 0) => new Date(Date.parse(at) + days * 86_400_000 + more).toISOString();
    const over = after(limits.invite.days);
    const inTime = after(limits.invite.days, -1);
    const accept = (acceptedAt: string) =>
      ({ type: 'AcceptInvitation', data: { ...person, userId: 'u', acceptedAt } }) as const;
    const expired = (withdrawnAt: string): InvitationEvent => ({
      type: 'InvitationWithdrawn',
      data: { ...person, withdrawnAt, expired: true },
    });
    const putAway = (withdrawnAt: string) =>
      ({ type: 'WithdrawInvitation', data: { ...person, withdrawnAt, expired: true } }) as const;
    const anew = invited({ invitationId: 'j' });
    const late = { ...anew, data: { ...anew.data, invitedAt: over } };
    const changed: InvitationEvent = {
      type: 'InvitationChanged',
      data: { ...person, role: 'edit', sso: false, changedAt: later },
    };
    given(invited())
      .when(accept(inTime))
      .thenEvents({ type: 'InvitationAccepted', data: { ...person, userId: 'u', acceptedAt: inTime } });
    given(invited()).when(accept(over)).thenNothing();
    given(invited(), changed)
      .when(accept(over))
      .thenEvents({ type: 'InvitationAccepted', data: { ...person, userId: 'u', acceptedAt: over } });
    given(invited()).when({ type: 'InviteEmail', data: late.data }).thenEvents(expired(over), late);
    given(invited()).when(putAway(over)).thenEvents(expired(over));
    given(invited()).when(putAway(inTime)).thenNothing();
    given(accepted).when(putAway(over)).thenNothing();
  });
  test('does not pile up at one address', () => {
    const many = Array.from({ length: limits.invite.pendingPerAddress }, (_, n) =>
      invited({ organizationId: `o${n}`, invitationId: `i${n}` }),
    );
    given(...many)
      .when(invite())
      .thenRefused('conflict', 'invite.too_many');
    given(...many)
      .when(invite({ organizationId: 'o1', role: 'edit' }))
      .thenEvents({
        type: 'InvitationChanged',
        data: { ...person, organizationId: 'o1', invitationId: 'i1', role: 'edit', sso: false, changedAt: at },
      });
  });
});
