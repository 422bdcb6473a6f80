import Type from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, listOf, nullable, paging, visibleLine, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import { Member, MemberRole } from './members.ts';

/** Title of a team: one line with at least one visible character (reference: 1..64). */
export const TeamTitle = Type.String({
  minLength: limits.team.title.min,
  maxLength: limits.team.title.max,
  pattern: visibleLine(),
  description: 'Name of the team.',
});

/** What somebody is in a team: owners manage it. */
export const TeamMemberRole = words(['owner', 'member'], { description: 'Owners manage the team.' });

/** A group of members of an organization (reference: Team; resources section 17). */
export const Team = component(
  'OrganizationTeam',
  closed(
    {
      object: words(['team']),
      id: Id(),
      title: Type.String(),
      members: Type.Integer({ description: 'How many members it has.' }),
      spaces: Type.Integer({ description: 'Spaces that it has a grant on.' }),
      createdAt: DateTime,
      permissions: closed({
        admin: Type.Boolean({ description: 'Whether the caller may manage the team.' }),
        view: Type.Boolean({ description: 'Whether the caller may see the team and its members.' }),
      }),
    },
    { description: 'A group of members of an organization that is given access together.' },
  ),
);

/** What a member is in a team. */
export const TeamMember = closed({ role: TeamMemberRole });

/** A member of a team, with its membership of the organization (gaps-filled: O). */
export const OrganizationTeamMember = component(
  'OrganizationTeamMember',
  closed({ organization: Member, team: TeamMember, permissions: closed({ view: Type.Boolean() }) }),
);

const InOrganization = closed({ organizationId: Id('Id of the organization.') });
const TeamParams = closed({ organizationId: Id('Id of the organization.'), teamId: Id('Id of the team.') });
const TeamMemberParams = closed({
  organizationId: Id('Id of the organization.'),
  teamId: Id('Id of the team.'),
  userId: Id('Id of the user.'),
});

/** Teams of an organization, paged. */
export const listTeamsInOrganizationById = operation({
  id: 'listTeamsInOrganizationById',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/orgs/{organizationId}/teams',
  tag: 'Teams',
  summary: 'List the teams of an organization',
  description: 'By title. Guests cannot list teams.',
  access: 'organization:listTeams',
  scope: 'organization:members:read',
  params: InOrganization,
  query: closed({
    ...paging,
    owner: Type.Optional(Id('Only teams that this member can manage: administrators manage all of them.')),
    title: Type.Optional(Type.String({ maxLength: 256, description: 'Part of the title, case and accents aside.' })),
  }),
  success: { 200: listOf(Team) },
});

/** Creates a team. */
export const createOrganizationTeam = operation({
  id: 'createOrganizationTeam',
  owner: 'identity',
  surface: 'public',
  method: 'PUT',
  path: '/orgs/{organizationId}/teams',
  tag: 'Teams',
  summary: 'Create a team',
  description: 'Whoever is named becomes a member of the team; all of them must be members of the organization.',
  access: 'organization:admin',
  scope: 'organization:members:write',
  params: InOrganization,
  body: closed({
    title: TeamTitle,
    members: Type.Optional(
      Type.Array(Id(), { maxItems: limits.team.changes, description: 'Ids of members of the organization.' }),
    ),
  }),
  success: { 201: Team },
  etag: true,
});

/** One team. */
export const getTeamInOrganizationById = operation({
  id: 'getTeamInOrganizationById',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/orgs/{organizationId}/teams/{teamId}',
  tag: 'Teams',
  summary: 'Get a team',
  access: 'team:view',
  scope: 'organization:members:read',
  params: TeamParams,
  success: { 200: Team },
  etag: true,
});

/** Renames a team. */
export const updateTeamInOrganizationById = operation({
  id: 'updateTeamInOrganizationById',
  owner: 'identity',
  surface: 'public',
  method: 'PATCH',
  path: '/orgs/{organizationId}/teams/{teamId}',
  tag: 'Teams',
  summary: 'Rename a team',
  access: 'team:admin',
  scope: 'organization:members:write',
  params: TeamParams,
  body: closed({ title: TeamTitle }),
  success: { 200: Team },
  etag: true,
});

/** Removes a team; what it was granted goes with it. */
export const removeTeamFromOrganizationById = operation({
  id: 'removeTeamFromOrganizationById',
  owner: 'identity',
  surface: 'public',
  method: 'DELETE',
  path: '/orgs/{organizationId}/teams/{teamId}',
  tag: 'Teams',
  summary: 'Remove a team',
  description:
    'Its members stay in the organization and lose what only the team had given them. 204: there was no such team.',
  access: 'team:admin',
  scope: 'organization:members:write',
  params: TeamParams,
  success: { 204: null, 205: null },
  ifMatch: true,
});

/** Members of a team, paged. */
export const listTeamMembersInOrganizationById = operation({
  id: 'listTeamMembersInOrganizationById',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/orgs/{organizationId}/teams/{teamId}/members',
  tag: 'Teams',
  summary: 'List the members of a team',
  description: 'In the order in which they came.',
  access: 'team:view',
  scope: 'organization:members:read',
  params: TeamParams,
  query: closed({ ...paging }),
  success: { 200: listOf(OrganizationTeamMember) },
});

const Someone = Type.String({
  minLength: 1,
  maxLength: limits.user.email,
  pattern: '^[^\\u0000-\\u0020\\u007F]+$',
  description: 'Id or email of a member.',
});

/** Adds, removes and changes many members of a team at once: all of it or nothing. */
export const updateMembersInOrganizationTeam = operation({
  id: 'updateMembersInOrganizationTeam',
  owner: 'identity',
  surface: 'public',
  method: 'PUT',
  path: '/orgs/{organizationId}/teams/{teamId}/members',
  tag: 'Teams',
  summary: 'Change the members of a team',
  description:
    'All of it happens, or nothing. Who is added and removed at once is removed; `memberships` adds too, and gives roles. ' +
    'Who is added must be a member of the organization; removing who is not in the team changes nothing.',
  access: 'team:admin',
  scope: 'organization:members:write',
  params: TeamParams,
  body: closed({
    add: Type.Optional(Type.Array(Someone, { maxItems: limits.team.changes })),
    remove: Type.Optional(Type.Array(Someone, { maxItems: limits.team.changes })),
    memberships: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$' }), TeamMember, {
        additionalProperties: false,
        maxProperties: limits.team.changes,
        description: 'Roles in the team by user id.',
      }),
    ),
  }),
  success: { 204: null },
});

/** Adds one member to a team, or changes its role there. */
export const addMemberToOrganizationTeamById = operation({
  id: 'addMemberToOrganizationTeamById',
  owner: 'identity',
  surface: 'public',
  method: 'PUT',
  path: '/orgs/{organizationId}/teams/{teamId}/members/{userId}',
  tag: 'Teams',
  summary: 'Add a member to a team',
  description: 'Changes the role of a member who is in the team already; without a role that stays as it is.',
  access: 'team:admin',
  scope: 'organization:members:write',
  params: TeamMemberParams,
  body: closed({ role: Type.Optional(TeamMemberRole) }),
  bodyOptional: true,
  success: { 204: null },
});

/** Takes one member out of a team. */
export const deleteMemberFromOrganizationTeamById = operation({
  id: 'deleteMemberFromOrganizationTeamById',
  owner: 'identity',
  surface: 'public',
  method: 'DELETE',
  path: '/orgs/{organizationId}/teams/{teamId}/members/{userId}',
  tag: 'Teams',
  summary: 'Remove a member from a team',
  description: '204: it was not in the team.',
  access: 'team:admin',
  scope: 'organization:members:write',
  params: TeamMemberParams,
  success: { 204: null, 205: null },
});

/** Operations on teams that the reference has. */
export const teamOperations = {
  listTeamsInOrganizationById,
  createOrganizationTeam,
  getTeamInOrganizationById,
  updateTeamInOrganizationById,
  removeTeamFromOrganizationById,
  listTeamMembersInOrganizationById,
  updateMembersInOrganizationTeam,
  addMemberToOrganizationTeamById,
  deleteMemberFromOrganizationTeamById,
} as const;

const Ids = Type.Array(Id(), { maxItems: 1000 });

/** Loads teams to embed them; those that do not exist, or not in an organization of the caller, are left out. */
export const loadTeams = operation({
  id: 'loadTeams',
  reads: true,
  owner: 'identity',
  surface: 'internal',
  method: 'POST',
  path: '/identity/load-teams',
  tag: 'Internal',
  summary: 'Load teams by id',
  access: 'service',
  body: closed({ ids: Ids }),
  success: { 200: closed({ teams: Type.Array(Team) }) },
});

/** Which of these users are members of an organization, and which of these teams exist there. */
export const resolveSubjects = operation({
  id: 'resolveSubjects',
  reads: true,
  owner: 'identity',
  surface: 'internal',
  method: 'POST',
  path: '/identity/resolve-subjects',
  tag: 'Internal',
  summary: 'Which users and teams belong to an organization?',
  access: 'service',
  body: closed({ organizationId: Id(), users: Type.Optional(Ids), teams: Type.Optional(Ids) }),
  success: { 200: closed({ users: Type.Array(Id()), teams: Type.Array(Id()) }) },
});

/** The members of an organization, or those of the named, with what their access comes from, in a fixed order, paged. */
export const listAccessSubjects = operation({
  id: 'listAccessSubjects',
  reads: true,
  owner: 'identity',
  surface: 'internal',
  method: 'POST',
  path: '/identity/list-access-subjects',
  tag: 'Internal',
  summary: 'Members of an organization with their roles and teams',
  access: 'service',
  body: closed({
    organizationId: Id(),
    users: Type.Optional(Ids),
    page: Type.Optional(Type.String({ maxLength: limits.cursor.maxLength })),
    limit: Type.Integer({ minimum: 1, maximum: 1000 }),
  }),
  success: { 200: listOf(closed({ userId: Id(), role: nullable(MemberRole), teams: Type.Array(Id()) })) },
});

/** Operations on teams that only our own services call. */
export const teamInternalOperations = { loadTeams, resolveSubjects, listAccessSubjects } as const;
