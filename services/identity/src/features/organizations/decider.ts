import { type AggregateDefinition, assertNever } from '@bindery/event-sourcing';
import { conflict, invalid, type MemberRole, notFound, type Problem, preconditionFailed } from '@bindery/service-kit';
import type { MemberEvent, OrganizationChanges, OrganizationEvent } from './events.ts';
import {
  evolve,
  initialState,
  type Membership,
  memberIn,
  type OrganizationState,
  organizationAggregateName,
  type Roster,
} from './state.ts';

type Active = Extract<OrganizationState, { status: 'active' }>;

type EventData<T extends OrganizationEvent['type']> = Extract<OrganizationEvent, { type: T }>['data'];

/** Data of the command. */
export interface UpdateOrganization {
  readonly organizationId: string;
  readonly changes: Omit<OrganizationChanges, 'hostname'>;
  /** The name asked for; with the claim on it unless the organization is thought to have it already. */
  readonly hostname?: { readonly name: string; readonly claimId?: string };
  readonly updatedBy: string;
  readonly at: string;
  /** Version of the settings that the caller saw, `*` for any. */
  readonly ifMatch?: string;
}

/** What every command on a membership says. */
interface OnMember {
  readonly organizationId: string;
  readonly userId: string;
  readonly at: string;
  /** Version of the membership that the caller saw, `*` for any; absent when it does not care. */
  readonly ifMatch?: string;
}
/** `sso`: the person came through a SAML provider. */
type JoinOrganization = OnMember & { readonly role: MemberRole | null; readonly sso?: boolean };
type PutMember = OnMember & { readonly role: MemberRole | null };
type ChangeMemberRole = PutMember;
type SetMemberSso = OnMember & { readonly sso: boolean };
type RemoveMember = OnMember;

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
  | { readonly type: 'RemoveMember'; readonly data: RemoveMember }
  /** Ends the membership of somebody who was erased, also of the last administrator: it administers nothing any more. */
  | { readonly type: 'RemoveErasedMember'; readonly data: RemoveMember };

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
    case 'RemoveErasedMember':
      return removed(command.data, state);
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

/** Records what is different, and only that. */
const updateOrganization = (data: UpdateOrganization, state: Active): readonly OrganizationEvent[] => {
  const { organizationId, updatedBy, at, ifMatch } = data;
  if (ifMatch !== undefined && ifMatch !== '*' && ifMatch !== String(state.version))
    throw preconditionFailed('The organization has changed since the version that If-Match names.');
  requireUsableRules(data.changes.mergeRules, state.roster);
  const present = new Map<string, unknown>(Object.entries(state.settings));
  const different = Object.entries(data.changes).filter(([field, value]) => !sameJson(present.get(field), value));
  const hostname = newHostname(data, state);
  const changes: OrganizationChanges = { ...Object.fromEntries(different), ...(hostname && { hostname }) };
  if (Object.keys(changes).length === 0) return [];
  const { hostname: before } = state.settings;
  const previousHostname = hostname && before ? { previousHostname: before } : {};
  const version = state.version + 1;
  return [
    {
      type: 'OrganizationUpdated',
      data: { organizationId, changes, ...previousHostname, updatedBy, updatedAt: at, version },
    },
  ];
};

const newHostname = ({ hostname }: UpdateOrganization, { settings }: Active): OrganizationChanges['hostname'] => {
  if (hostname === undefined || hostname.name === settings.hostname?.name) return undefined;
  // It had the name when the command was made, and has given it up since.
  if (hostname.claimId === undefined)
    throw conflict('organization.busy', 'body.hostname: another change came first; read the organization and repeat.');
  return { name: hostname.name, claimId: hostname.claimId };
};

/** @throws Problem 400 for people in rules who are no members, and for rules that nothing evaluates (ADR 16) */
const requireUsableRules = (mergeRules: OrganizationChanges['mergeRules'], roster: Roster): void => {
  if (mergeRules?.type !== 'rules') return;
  for (const [index, rule] of mergeRules.rules.entries()) {
    if (rule.rule === 'custom')
      throw invalid(
        'organization.custom_merge_rule',
        `body.mergeRules.rules[${index}]: custom rules are not supported`,
      );
    if (!('users' in rule)) continue;
    const place = rule.users.findIndex((userId) => memberIn(roster, userId) === undefined);
    if (place >= 0)
      throw invalid(
        'organization.merge_rule_user',
        `body.mergeRules.rules[${index}].users[${place}]: is not a member of the organization`,
      );
  }
};

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** 409: somebody must be left who can administer the organization. */
const lastAdministrator = (): Problem =>
  conflict(
    'organization.last_administrator',
    'An organization keeps at least one administrator; name another one first.',
  );

const checkVersion = ({ ifMatch }: OnMember, member: Membership | undefined): void => {
  if (ifMatch !== undefined && (member === undefined || (ifMatch !== '*' && ifMatch !== String(member.version))))
    throw preconditionFailed('The member has changed since the version that If-Match names.');
};

const joined = (data: JoinOrganization, state: Active): readonly MemberEvent[] => {
  const { organizationId, userId, role, at, sso } = data;
  const membership = { organizationId, userId, role, joinedAt: at, version: state.endedVersion + 1 };
  return [{ type: 'MemberJoined', data: sso === true ? { ...membership, sso } : membership }];
};

const roleChanged = (data: ChangeMemberRole, member: Membership, state: Active): readonly MemberEvent[] => {
  const { organizationId, userId, role, at } = data;
  const previousRole = member.role;
  if (previousRole === role) return [];
  if (previousRole === 'admin' && state.administrators <= 1) throw lastAdministrator();
  const version = member.version + 1;
  return [{ type: 'MemberRoleChanged', data: { organizationId, userId, role, previousRole, changedAt: at, version } }];
};

const joinOrganization = (data: JoinOrganization, state: Active): readonly MemberEvent[] =>
  memberIn(state.roster, data.userId) === undefined ? joined(data, state) : [];

const putMember = (data: PutMember, state: Active): readonly MemberEvent[] => {
  const member = memberIn(state.roster, data.userId);
  checkVersion(data, member);
  return member === undefined ? joined(data, state) : roleChanged(data, member, state);
};

const changeMemberRole = (data: ChangeMemberRole, state: Active): readonly MemberEvent[] => {
  const member = memberIn(state.roster, data.userId);
  if (member === undefined) throw notFound('member');
  checkVersion(data, member);
  return roleChanged(data, member, state);
};

const setMemberSso = (data: SetMemberSso, state: Active): readonly MemberEvent[] => {
  const { organizationId, userId, sso, at } = data;
  const member = memberIn(state.roster, userId);
  if (member === undefined) throw notFound('member');
  checkVersion(data, member);
  if (member.sso === sso) return [];
  const version = member.version + 1;
  return [{ type: 'MemberSsoChanged', data: { organizationId, userId, sso, changedAt: at, version } }];
};

const removeMember = (data: RemoveMember, state: Active): readonly MemberEvent[] => {
  const member = memberIn(state.roster, data.userId);
  checkVersion(data, member);
  if (member?.role === 'admin' && state.administrators <= 1) throw lastAdministrator();
  return removed(data, state);
};

const removed = ({ organizationId, userId, at }: RemoveMember, state: Active): readonly MemberEvent[] => {
  const member = memberIn(state.roster, userId);
  if (member === undefined) return [];
  const { role, version } = member;
  return [{ type: 'MemberRemoved', data: { organizationId, userId, role, removedAt: at, version } }];
};

/** An organization with its members. */
export const organizationAggregate: AggregateDefinition<OrganizationState, OrganizationCommand, OrganizationEvent> = {
  name: organizationAggregateName,
  decider: { initialState, decide, evolve },
};
