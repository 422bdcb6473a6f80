import { conflict, type MemberRole, notFound, type Problem, preconditionFailed } from '@bindery/service-kit';
import type { MemberEvent } from './events.ts';
import { type Membership, memberIn } from './roster.ts';
import type { OrganizationState } from './state.ts';

type Active = Extract<OrganizationState, { status: 'active' }>;

/** What every command on a membership says. */
interface OnMember {
  readonly organizationId: string;
  readonly userId: string;
  readonly at: string;
  /** Version of the membership that the caller saw, `*` for any; absent when it does not care. */
  readonly ifMatch?: string;
}
/** `sso`: the person came through a SAML provider. */
export type JoinOrganization = OnMember & { readonly role: MemberRole | null; readonly sso?: boolean };
export type PutMember = OnMember & { readonly role: MemberRole | null };
export type ChangeMemberRole = PutMember;
export type SetMemberSso = OnMember & { readonly sso: boolean };
export type RemoveMember = OnMember;

/** 409: somebody must be left who can administer the organization. */
export const lastAdministrator = (): Problem =>
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

export const joinOrganization = (data: JoinOrganization, state: Active): readonly MemberEvent[] =>
  memberIn(state.roster, data.userId) === undefined ? joined(data, state) : [];

export const putMember = (data: PutMember, state: Active): readonly MemberEvent[] => {
  const member = memberIn(state.roster, data.userId);
  checkVersion(data, member);
  return member === undefined ? joined(data, state) : roleChanged(data, member, state);
};

export const changeMemberRole = (data: ChangeMemberRole, state: Active): readonly MemberEvent[] => {
  const member = memberIn(state.roster, data.userId);
  if (member === undefined) throw notFound('member');
  checkVersion(data, member);
  return roleChanged(data, member, state);
};

export const setMemberSso = (data: SetMemberSso, state: Active): readonly MemberEvent[] => {
  const { organizationId, userId, sso, at } = data;
  const member = memberIn(state.roster, userId);
  if (member === undefined) throw notFound('member');
  checkVersion(data, member);
  if (member.sso === sso) return [];
  const version = member.version + 1;
  return [{ type: 'MemberSsoChanged', data: { organizationId, userId, sso, changedAt: at, version } }];
};

export const removeMember = (data: RemoveMember, state: Active): readonly MemberEvent[] => {
  const { organizationId, userId, at } = data;
  const member = memberIn(state.roster, userId);
  checkVersion(data, member);
  if (member === undefined) return [];
  const { role, version } = member;
  if (role === 'admin' && state.administrators <= 1) throw lastAdministrator();
  return [{ type: 'MemberRemoved', data: { organizationId, userId, role, removedAt: at, version } }];
};
