import Type from 'typebox';
import { operation } from '../kit/operation.ts';
import { closed, Id, listOf, paging, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import { MemberRole } from './members.ts';
import { Space } from './spaces.ts';
import { Team, TeamMember } from './teams.ts';

const params = closed({ organizationId: Id('Id of the organization.'), userId: Id('Id of the user.') });

/** The spaces of a member. */
export const listSpacesForOrganizationMember = operation({
  id: 'listSpacesForOrganizationMember',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/orgs/{organizationId}/members/{userId}/spaces',
  tag: 'Members',
  summary: 'List the spaces of a member',
  description: 'With the level that the member has on each. Members see their own, administrators those of everybody.',
  access: 'organization:view',
  scope: 'organization:members:read',
  params,
  query: closed({ ...paging, order: Type.Optional(words(['asc', 'desc'], { default: 'desc' })) }),
  success: { 200: listOf(closed({ permission: MemberRole, space: Space })) },
});

/** The teams of a member. */
export const listTeamsForOrganizationMember = operation({
  id: 'listTeamsForOrganizationMember',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/orgs/{organizationId}/members/{userId}/teams',
  tag: 'Members',
  summary: 'List the teams of a member',
  description: 'By title. Guests see only their own.',
  access: 'organization:view',
  scope: 'organization:members:read',
  params,
  query: closed({
    ...paging,
    title: Type.Optional(
      Type.String({ maxLength: limits.search.query, description: 'Part of the title, case and accents aside.' }),
    ),
  }),
  success: { 200: listOf(closed({ team: Team, member: TeamMember })) },
});

/** What members have elsewhere. */
export const memberRelationOperations = { listSpacesForOrganizationMember, listTeamsForOrganizationMember } as const;
