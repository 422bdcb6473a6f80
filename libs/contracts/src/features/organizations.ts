import Type from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, listOf, nullable, paging, Uri, UrlInput, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import { MemberRole } from './members.ts';

const text = '[^\\u0000-\\u001F\\u007F]*';

/** Title of an organization: at least two visible characters (gaps-filled section 13), one line. */
export const OrganizationTitle = Type.String({
  minLength: limits.organization.title.min,
  maxLength: limits.organization.title.max,
  pattern: `^${text}\\S${text}\\S${text}$`,
  description: 'Name of the organization.',
});

/** A domain name whose people may join. */
const EmailDomain = Type.String({
  maxLength: 253,
  pattern: '^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?[.])+[a-zA-Z]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$',
});

const flags = [
  'view',
  'access',
  'admin',
  'ownTeam',
  'createContent',
  'createOpenAPISpec',
  'viewBilling',
  'listMembers',
  'listTeams',
  'listIntegrations',
  'listInstallations',
  'installIntegration',
  'ingestConversations',
] as const;
const flag = Type.Boolean();

/** What the caller may do with an organization (gaps-filled section 12). */
export const OrganizationPermissions = closed({
  view: flag,
  access: flag,
  admin: flag,
  ownTeam: flag,
  createContent: flag,
  createOpenAPISpec: flag,
  viewBilling: flag,
  listMembers: flag,
  listTeams: flag,
  listIntegrations: flag,
  listInstallations: flag,
  installIntegration: flag,
  ingestConversations: flag,
} satisfies Record<(typeof flags)[number], typeof flag>);

/** An organization (reference: Organization; resources section 15). Plan, trial and billing are neutral constants here. */
export const Organization = component(
  'Organization',
  closed(
    {
      object: words(['organization']),
      id: Id(),
      title: Type.String(),
      createdAt: DateTime,
      emailDomains: Type.Array(Type.String(), { description: 'Domains whose people may join.' }),
      hostname: Type.Optional(Type.String()),
      type: words(['business', 'community']),
      defaultRole: nullable(MemberRole),
      sso: Type.Boolean(),
      ai: Type.Boolean(),
      inviteLinks: Type.Boolean(),
      auditLogs: Type.Boolean(),
      plan: words([
        'free_2024',
        'plus_2024',
        'pro_2024',
        'enterprise_2024',
        'community_2024',
        'free',
        'plus',
        'pro',
        'internal',
      ]),
      mergeRules: closed({ type: words(['none']) }),
      urls: closed({ location: Uri, app: Uri, logo: Type.Optional(Uri) }),
      trial: closed({
        status: words(['notapplicable', 'none', 'active', 'ended', 'expired']),
        count: Type.Integer(),
      }),
      permissions: OrganizationPermissions,
    },
    { description: 'The owner of spaces and the group of people who work on them.' },
  ),
);

/** Lists the organizations of the caller. */
export const listOrganizationsForAuthenticatedUser = operation({
  id: 'listOrganizationsForAuthenticatedUser',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/orgs',
  tag: 'Organizations',
  summary: 'List the organizations of the caller',
  description: 'In the order in which the caller sees them: by title.',
  access: 'authenticated',
  query: closed({ ...paging }),
  success: { 200: listOf(Organization) },
});

/** Creates an organization; the caller becomes its administrator. */
export const createOrganization = operation({
  id: 'createOrganization',
  owner: 'identity',
  surface: 'public',
  method: 'POST',
  path: '/orgs',
  tag: 'Organizations',
  summary: 'Create an organization',
  description:
    'The caller becomes its first administrator. `withDefaultSite`, `openapiUrl` and `onboardingPreferences` are accepted ' +
    'so that existing clients work, and change nothing.',
  access: 'authenticated',
  query: closed({ withDefaultSite: Type.Optional(Type.Boolean()), openapiUrl: Type.Optional(UrlInput) }),
  body: closed({
    title: OrganizationTitle,
    emailDomains: Type.Optional(Type.Array(EmailDomain, { maxItems: limits.organization.emailDomains })),
    onboardingPreferences: Type.Optional(
      closed({
        source: nullable(words(['markdown-in-git', 'import', 'template'])),
        audience: nullable(words(['public', 'mixed', 'protected', 'internal'])),
        interests: Type.Array(words(['adaptive-content', 'api-docs', 'proactive-agent']), { maxItems: 3 }),
      }),
    ),
  }),
  success: { 201: Organization },
  location: true,
  etag: true,
});

/** One organization of the caller. */
export const getOrganizationById = operation({
  id: 'getOrganizationById',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/orgs/{organizationId}',
  tag: 'Organizations',
  summary: 'Get an organization',
  access: 'organization:view',
  params: closed({ organizationId: Id('Id of the organization.') }),
  success: { 200: Organization },
  etag: true,
});

/** Operations on organizations. */
export const organizationOperations = {
  listOrganizationsForAuthenticatedUser,
  createOrganization,
  getOrganizationById,
} as const;
