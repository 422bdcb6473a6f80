import { type AggregateDefinition, assertNever } from '@bindery/event-sourcing';
import { conflict, notFound } from '@bindery/service-kit';
import type { OrganizationEvent } from './events.ts';
import {
  type ChangeMemberRole,
  changeMemberRole,
  type JoinOrganization,
  joinOrganization,
  type PutMember,
  putMember,
  type RemoveMember,
  removeMember,
  type SetMemberSso,
  setMemberSso,
} from './member-decisions.ts';
import { memberIn } from './roster.ts';
import { evolve, initialState, type OrganizationState, organizationAggregateName } from './state.ts';
import { type UpdateOrganization, updateOrganization } from './update-decision.ts';

type EventData<T extends OrganizationEvent['type']> = Extract<OrganizationEvent, { type: T }>['data'];

/** Commands on one organization. */
export type OrganizationCommand =
  | { readonly type: 'CreateOrganization'; readonly data: EventData<'OrganizationCreated'> }
  | { readonly type: 'UpdateOrganization'; readonly data: UpdateOrganization }
  /** Adds a member or changes its role. */
  | { readonly type: 'PutMember'; readonly data: PutMember }
  /** Adds a member; one who is there stays as it is. */
  | { readonly type: 'JoinOrganization'; readonly data: JoinOrganization }
  /** Changes the role of somebody who is a member. */
  | { readonly type: 'ChangeMemberRole'; readonly data: ChangeMemberRole }
  | { readonly type: 'SetMemberSso'; readonly data: SetMemberSso }
  /** Ends a membership; nothing when there is none. */
  | { readonly type: 'RemoveMember'; readonly data: RemoveMember };

export const decide = (command: OrganizationCommand, state: OrganizationState): readonly OrganizationEvent[] => {
  if (command.type === 'CreateOrganization') return create(command.data, state);
  if (state.status === 'none') throw notFound('organization');
  switch (command.type) {
    case 'UpdateOrganization':
      return updateOrganization(command.data, state);
    case 'PutMember':
      return putMember(command.data, state);
    case 'JoinOrganization':
      return joinOrganization(command.data, state);
    case 'ChangeMemberRole':
      return changeMemberRole(command.data, state);
    case 'SetMemberSso':
      return setMemberSso(command.data, state);
    case 'RemoveMember':
      return removeMember(command.data, state);
    default:
      return assertNever(command);
  }
};

const create = (data: EventData<'OrganizationCreated'>, state: OrganizationState): readonly OrganizationEvent[] => {
  const { organizationId, createdBy, createdAt } = data;
  if (state.status === 'active') {
    // A repeated request: this id was made for it, so what is there is its own.
    if (memberIn(state.roster, createdBy)) return [];
    throw conflict('organization.exists', 'An organization with this id exists.');
  }
  return [
    { type: 'OrganizationCreated', data },
    {
      type: 'MemberJoined',
      data: { organizationId, userId: createdBy, role: 'admin', joinedAt: createdAt, version: 1 },
    },
  ];
};

/** An organization with its members. */
export const organizationAggregate: AggregateDefinition<OrganizationState, OrganizationCommand, OrganizationEvent> = {
  name: organizationAggregateName,
  decider: { initialState, decide, evolve },
};
