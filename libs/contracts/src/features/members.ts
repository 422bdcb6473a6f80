import Type from 'typebox';
import { component, embedded } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, listOf, nullable, paging, words } from '../kit/schema.ts';

const roles = ['admin', 'create', 'edit', 'review', 'comment', 'read'] as const;

/** A role, from `read` (least) over `comment`, `edit`, `review` and `create` to `admin`. */
export const MemberRole = words(roles, { description: 'read < comment < edit < review < create < admin' });

/** A membership (reference: Member; resources section 16). Its id is the id of the user. */
export const Member = component(
  'OrganizationMember',
  closed(
    {
      object: words(['member']),
      id: Id('Id of the user.'),
      role: nullable(MemberRole),
      user: embedded('user', 'User'),
      disabled: Type.Boolean(),
      joinedAt: DateTime,
      lastSeenAt: Type.Optional(DateTime),
      sso: Type.Boolean(),
      spaces: Type.Integer({ description: 'Direct grants on spaces.' }),
      teams: Type.Integer({ description: 'Teams it is in.' }),
      sites: Type.Integer({ description: 'Direct grants on sites.' }),
    },
    { description: 'A user in an organization, with its role there; null is a guest.' },
  ),
);

/** Members of an organization, paged. */
export const listMembersInOrganizationById = operation({
  id: 'listMembersInOrganizationById',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/orgs/{organizationId}/members',
  tag: 'Members',
  summary: 'List the members of an organization',
  description:
    'Sorting by `lastSeenAt` lists only members who have been seen. Guests cannot list members. A search answers no ' +
    '`count`; in very large organizations a page of it may hold fewer items than `limit` although there is a next one.',
  access: 'organization:listMembers',
  scope: 'organization:members:read',
  params: closed({ organizationId: Id('Id of the organization.') }),
  query: closed({
    ...paging,
    order: Type.Optional(words(['asc', 'desc'], { default: 'desc' })),
    role: Type.Optional(words([...roles, 'guest'], { description: 'Only members with this role.' })),
    search: Type.Optional(
      Type.String({ maxLength: 512, description: 'Part of the display name or the email, case and accents aside.' }),
    ),
    sort: Type.Optional(words(['joinedAt', 'lastSeenAt', 'name'], { default: 'joinedAt' })),
  }),
  success: { 200: listOf(Member) },
});

/** One member. */
export const getMemberInOrganizationById = operation({
  id: 'getMemberInOrganizationById',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/orgs/{organizationId}/members/{userId}',
  tag: 'Members',
  summary: 'Get a member of an organization',
  description: 'Guests see only themselves.',
  access: 'organization:view',
  scope: 'organization:members:read',
  params: closed({ organizationId: Id('Id of the organization.'), userId: Id('Id of the user.') }),
  success: { 200: Member },
  etag: true,
});

/** The caller says that it is there. */
export const updateOrganizationMemberLastSeenAt = operation({
  id: 'updateOrganizationMemberLastSeenAt',
  owner: 'identity',
  surface: 'public',
  method: 'POST',
  path: '/orgs/{organizationId}/ping',
  tag: 'Members',
  summary: "Update the caller's last-seen time in an organization",
  access: 'organization:view',
  params: closed({ organizationId: Id('Id of the organization.') }),
  success: {
    200: closed({
      serviceVisitorClaims: Type.Optional(Type.String({ description: 'Token to attach to the user; none yet.' })),
      gitbookVisitorClaims: Type.Optional(Type.String({ description: 'The same, as typed clients name it.' })),
    }),
  },
});

const MemberParams = closed({ organizationId: Id('Id of the organization.'), userId: Id('Id of the user.') });

/** Changes the role of a member. */
export const updateMemberInOrganizationById = operation({
  id: 'updateMemberInOrganizationById',
  owner: 'identity',
  surface: 'public',
  method: 'PATCH',
  path: '/orgs/{organizationId}/members/{userId}',
  tag: 'Members',
  summary: 'Change a member of an organization',
  description:
    'A null role makes it a guest. Takes effect on the next request of that user. The last administrator cannot be made ' +
    'anything else (409).',
  access: 'organization:admin',
  scope: 'organization:members:write',
  params: MemberParams,
  body: closed({ role: Type.Optional(nullable(MemberRole)) }),
  success: { 200: Member },
  errors: [409],
  etag: true,
});

/** Removes a member. */
export const removeMemberFromOrganizationById = operation({
  id: 'removeMemberFromOrganizationById',
  owner: 'identity',
  surface: 'public',
  method: 'DELETE',
  path: '/orgs/{organizationId}/members/{userId}',
  tag: 'Members',
  summary: 'Remove a member from an organization',
  description:
    'Answers 205 when it was removed and 204 when there was no such member. Takes effect on the next request of that user, ' +
    'who leaves all teams too. Members may remove themselves; the last administrator cannot be removed (409).',
  access: 'organization:admin',
  scope: 'organization:members:write',
  params: MemberParams,
  success: { 204: null, 205: null },
  errors: [409],
  ifMatch: true,
});

/** Makes a member one who signs in through SSO. */
export const setUserAsSSOMemberForOrganization = operation({
  id: 'setUserAsSSOMemberForOrganization',
  owner: 'identity',
  surface: 'public',
  method: 'POST',
  path: '/orgs/{organizationId}/members/{userId}/sso',
  tag: 'Members',
  summary: 'Make a member an SSO member',
  description: 'Needs an active SAML provider (409 otherwise).',
  access: 'organization:admin',
  params: MemberParams,
  success: { 200: Member },
  errors: [409],
  etag: true,
});

/** Operations on members that the reference has. */
export const memberOperations = {
  listMembersInOrganizationById,
  getMemberInOrganizationById,
  updateOrganizationMemberLastSeenAt,
  updateMemberInOrganizationById,
  removeMemberFromOrganizationById,
  setUserAsSSOMemberForOrganization,
} as const;
