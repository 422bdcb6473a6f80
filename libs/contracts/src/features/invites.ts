import Type from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, Id, listOf, nullable, paging, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import { Collection } from './collections.ts';
import { MemberRole } from './members.ts';
import { Space } from './spaces.ts';

const RoleOrGuest = nullable(MemberRole);
const linkFields = {
  object: words(['invite']),
  id: Id('Whoever knows it can join with it.'),
  redundant: Type.Boolean({ description: 'The caller has everything already that the link gives.' }),
};

/** A link through which people join an organization with a role (gaps-filled: O). */
export const InviteLinkToOrganization = component(
  'InviteLinkToOrganization',
  closed({ ...linkFields, role: RoleOrGuest }, { description: 'A link through which people join with a role.' }),
);
const InviteLinkToSpace = component(
  'InviteLinkToSpace',
  closed(
    { ...linkFields, level: RoleOrGuest, space: Space },
    { description: 'A link through which people join and get a level on a space.' },
  ),
);
const InviteLinkToCollection = component(
  'InviteLinkToCollection',
  closed(
    { ...linkFields, level: RoleOrGuest, collection: Collection },
    { description: 'A link through which people join and get a level on a collection.' },
  ),
);
/** Any link through which people join. */
export const OrganizationInviteLink = Type.Union([InviteLinkToOrganization, InviteLinkToSpace, InviteLinkToCollection]);

const InOrganization = closed({ organizationId: Id('Id of the organization.') });
const InviteParams = closed({ organizationId: Id('Id of the organization.'), inviteId: Id('Id of the invite.') });

/** Makes a link. */
export const createOrganizationInvite = operation({
  id: 'createOrganizationInvite',
  owner: 'identity',
  surface: 'public',
  method: 'POST',
  path: '/orgs/{organizationId}/link-invites',
  tag: 'Invites',
  summary: 'Create an invite link',
  description:
    'With a `role` in the organization, or a `level` on a `space` or `collection` for guests. Refused while the ' +
    'organization has no invite links (`inviteLinks`).',
  access: 'organization:admin',
  scope: 'organization:members:write',
  params: InOrganization,
  body: Type.Union([
    closed({ role: RoleOrGuest }),
    closed({ level: RoleOrGuest, space: Id('Id of the space.') }),
    closed({ level: RoleOrGuest, collection: Id('Id of the collection.') }),
  ]),
  success: { 201: OrganizationInviteLink },
  secret: true,
});

/** Links that give a role, paged. */
export const listOrganizationInviteLinks = operation({
  id: 'listOrganizationInviteLinks',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/orgs/{organizationId}/link-invites',
  tag: 'Invites',
  summary: 'List the invite links of an organization',
  description: 'Those that give a role in the organization, newest first.',
  access: 'organization:admin',
  scope: 'organization:members:read',
  params: InOrganization,
  query: closed({ ...paging }),
  success: { 200: listOf(InviteLinkToOrganization) },
});

/** One link. */
export const getOrganizationInviteLink = operation({
  id: 'getOrganizationInviteLink',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/orgs/{organizationId}/link-invites/{inviteId}',
  tag: 'Invites',
  summary: 'Get an invite link',
  access: 'organization:admin',
  scope: 'organization:members:read',
  params: InviteParams,
  success: { 200: OrganizationInviteLink },
});

/** Changes what a link gives from now on. */
export const updateOrganizationInviteById = operation({
  id: 'updateOrganizationInviteById',
  owner: 'identity',
  surface: 'public',
  method: 'PATCH',
  path: '/orgs/{organizationId}/link-invites/{inviteId}',
  tag: 'Invites',
  summary: 'Change an invite link',
  description: '`role` for a link to the organization, `level` for one to a space or collection (400 otherwise).',
  access: 'organization:admin',
  scope: 'organization:members:write',
  params: InviteParams,
  body: Type.Union([closed({ role: RoleOrGuest }), closed({ level: RoleOrGuest })]),
  success: { 200: OrganizationInviteLink },
});

/** Ends a link, or withdraws an invitation that was sent by email. */
export const deleteOrganizationInviteById = operation({
  id: 'deleteOrganizationInviteById',
  owner: 'identity',
  surface: 'public',
  method: 'DELETE',
  path: '/orgs/{organizationId}/link-invites/{inviteId}',
  tag: 'Invites',
  summary: 'Delete an invite',
  description:
    'A link works no more; who joined with it stays. The id of an invitation by email (it is in the audit log) withdraws ' +
    'that. 204: there was no such invite.',
  access: 'organization:admin',
  scope: 'organization:members:write',
  params: InviteParams,
  success: { 204: null, 205: null },
});

/** Joins with a link. */
export const joinOrganizationWithInvite = operation({
  id: 'joinOrganizationWithInvite',
  owner: 'identity',
  surface: 'public',
  method: 'POST',
  path: '/orgs/{organizationId}/invites/{inviteId}',
  tag: 'Invites',
  summary: 'Join an organization with an invite link',
  description: 'Members who have less get what the link gives; nobody loses anything.',
  access: 'authenticated',
  scope: 'organization:members:write',
  params: InviteParams,
  success: { 200: closed({}) },
});

/** What mail can be sent to: the rule of the mail port (64 characters before the @, RFC 5321). */
const Email = Type.String({
  format: 'email',
  minLength: 3,
  maxLength: limits.user.email,
  pattern:
    '^[^\\s@<>,;:"()\\\\\\[\\]\\u0000-\\u001F\\u007F]{1,64}@[^\\s@<>,;:"()\\\\\\[\\]\\u0000-\\u001F\\u007F]{1,253}$',
});

/** Invites people by email. */
export const inviteUsersToOrganization = operation({
  id: 'inviteUsersToOrganization',
  owner: 'identity',
  surface: 'public',
  method: 'POST',
  path: '/orgs/{organizationId}/invites',
  tag: 'Invites',
  summary: 'Invite people by email',
  description:
    'Who has an account is a member at once; the others get a mail, and are members once they sign in with that address. ' +
    'Without a role it is the `defaultRole` of the organization. Nobody who is a member gets less than it has. ' +
    '`sso` is for people of the email domains of an organization with an active SAML provider; the others are not invited.',
  access: 'organization:admin',
  scope: 'organization:members:write',
  params: InOrganization,
  body: closed({
    emails: Type.Array(Type.Union([Email, closed({ email: Email, role: RoleOrGuest })]), {
      minItems: 1,
      maxItems: limits.invite.emails,
    }),
    role: Type.Optional(RoleOrGuest),
    sso: Type.Optional(Type.Boolean({ default: false })),
  }),
  success: {
    200: closed({
      users: Type.Array(Id(), { description: 'Who had an account.' }),
      invited: Type.Integer({ description: 'How many were sent an invitation, or have one that waits for them.' }),
      failedSSOEmails: Type.Optional(Type.Array(Type.String())),
    }),
  },
  errors: [409],
});

/** Operations on invites that the reference has. */
export const inviteOperations = {
  createOrganizationInvite,
  listOrganizationInviteLinks,
  getOrganizationInviteLink,
  updateOrganizationInviteById,
  deleteOrganizationInviteById,
  joinOrganizationWithInvite,
  inviteUsersToOrganization,
} as const;
