import { type AggregateDefinition, assertNever } from '@bindery/event-sourcing';
import { conflict, type MemberRole, notFound, preconditionFailed } from '@bindery/service-kit';
import type { OrganizationEvent } from './events.ts';
import { evolve, initialState, memberIn, type OrganizationState, organizationAggregateName } from './state.ts';

type EventData<T extends OrganizationEvent['type']> = Extract<OrganizationEvent, { type: T }>['data'];

/** Commands on one organization. */
export type OrganizationCommand =
  | { readonly type: 'CreateOrganization'; readonly data: EventData<'OrganizationCreated'> }
  | {
      readonly type: 'PutMember';
      readonly data: {
        readonly organizationId: string;
        readonly userId: string;
        readonly role: MemberRole | null;
        readonly at: string;
        /** Version that the caller saw, `*` for any; absent when it does not care. */
        readonly ifMatch?: string;
      };
    };

export const decide = (command: OrganizationCommand, state: OrganizationState): readonly OrganizationEvent[] => {
  switch (command.type) {
    case 'CreateOrganization': {
      const { organizationId, createdBy, createdAt } = command.data;
      if (state.status === 'active') {
        // A repeated request: this id was made for it, so what is there is its own.
        if (memberIn(state.roster, createdBy)) return [];
        throw conflict('organization.exists', 'An organization with this id exists.');
      }
      return [
        { type: 'OrganizationCreated', data: command.data },
        {
          type: 'MemberJoined',
          data: { organizationId, userId: createdBy, role: 'admin', joinedAt: createdAt, version: 1 },
        },
      ];
    }
    case 'PutMember':
      return putMember(command.data, state);
    default:
      return assertNever(command);
  }
};

const putMember = (
  data: Extract<OrganizationCommand, { type: 'PutMember' }>['data'],
  state: OrganizationState,
): readonly OrganizationEvent[] => {
  if (state.status === 'none') throw notFound('organization');
  const { organizationId, userId, role, at, ifMatch } = data;
  const member = memberIn(state.roster, userId);
  if (ifMatch !== undefined && (member === undefined || (ifMatch !== '*' && ifMatch !== String(member.version))))
    throw preconditionFailed('The member has changed since the version that If-Match names.');
  if (member === undefined)
    return [{ type: 'MemberJoined', data: { organizationId, userId, role, joinedAt: at, version: 1 } }];
  if (member.role === role) return [];
  return [
    {
      type: 'MemberRoleChanged',
      data: { organizationId, userId, role, previousRole: member.role, changedAt: at, version: member.version + 1 },
    },
  ];
};

/** An organization with its members. */
export const organizationAggregate: AggregateDefinition<OrganizationState, OrganizationCommand, OrganizationEvent> = {
  name: organizationAggregateName,
  decider: { initialState, decide, evolve },
};
