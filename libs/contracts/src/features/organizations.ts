import Type from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, listOf, nullable, paging, Uri, UrlInput, visibleLine, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import { MemberRole } from './members.ts';
import { MergeRules } from './merge-rules.ts';

/** Title of an organization: at least two visible characters (gaps-filled section 13), one line. */
export const OrganizationTitle = Type.String({
  minLength: limits.organization.title.min,
  maxLength: limits.organization.title.max,
  pattern: visibleLine(2),
  description: 'Name of the organization.',
});

/** A domain name whose people may join. */
export const EmailDomain = Type.String({
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

const price = closed({ monthly: Type.Number(), yearly: Type.Number() });

/** Billing as the reference shapes it. Nothing is sold here: neutral constants, for those who may view billing. */
const Billing = closed({
  interval: words(['monthly', 'yearly']),
  endDate: nullable(DateTime),
  hasPaymentFailed: Type.Boolean(),
  canCheckout: Type.Boolean(),
  isScheduledToCancel: Type.Boolean(),
  pricing: closed({
    members: closed({ plus_2024: price, pro_2024: price }),
    sites: closed({ premium: price, ultimate: price }),
  }),
  usageAddons: closed({}),
  canChangeInterval: Type.Boolean(),
  canUseSAML: Type.Boolean(),
  creditsBundle: nullable(Type.String()),
  aiCreditAlertThreshold: nullable(Type.Number()),
});

/** What visitors see first (reference: Organization, `defaultContent`). */
const DefaultContent = closed({ type: words(['site']), site: Id('Id of a site of the organization.') });

/** Name under which public content of an organization is found (reference: Limits, Subdomain; gaps-filled section 13). */
export const OrganizationHostname = Type.String({
  minLength: limits.organization.hostname.min,
  maxLength: limits.organization.hostname.max,
  pattern: '^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$',
});

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
      defaultContent: Type.Optional(DefaultContent),
      sso: Type.Boolean({ description: 'Signing in through a SAML provider is enforced.' }),
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
      mergeRules: MergeRules,
      urls: closed({ location: Uri, app: Uri, logo: Type.Optional(Uri) }),
      trial: closed({
        status: words(['notapplicable', 'none', 'active', 'ended', 'expired']),
        count: Type.Integer(),
      }),
      billing: Type.Optional(Billing),
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
  scope: 'organization:read',
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
  scope: 'organization:write',
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
  scope: 'organization:read',
  params: closed({ organizationId: Id('Id of the organization.') }),
  success: { 200: Organization },
  etag: true,
});

const OrganizationParams = closed({ organizationId: Id('Id of the organization.') });

/** Changes an organization. */
export const updateOrganizationById = operation({
  id: 'updateOrganizationById',
  owner: 'identity',
  surface: 'public',
  method: 'PATCH',
  path: '/orgs/{organizationId}',
  tag: 'Organizations',
  summary: 'Change an organization',
  description:
    'Absent fields stay as they are. `defaultContent` and `logo` are cleared by null. `hostname` is unique on the instance ' +
    '(409 when another organization has it); names like `www`, `api` and `admin` are kept for the instance. `sso` can be switched on once a SAML provider is active. People whom ' +
    '`mergeRules` name must be members.',
  access: 'organization:admin',
  scope: 'organization:write',
  params: OrganizationParams,
  body: closed({
    title: Type.Optional(OrganizationTitle),
    emailDomains: Type.Optional(Type.Array(EmailDomain, { maxItems: limits.organization.emailDomains })),
    hostname: Type.Optional(OrganizationHostname),
    defaultRole: Type.Optional(nullable(MemberRole)),
    defaultContent: Type.Optional(nullable(DefaultContent)),
    logo: Type.Optional(
      nullable(
        Type.String({
          format: 'uri',
          maxLength: limits.url.maxLength,
          pattern: '^https?://',
          description: 'Web address of a picture.',
        }),
      ),
    ),
    sso: Type.Optional(Type.Boolean()),
    ai: Type.Optional(Type.Boolean()),
    inviteLinks: Type.Optional(Type.Boolean()),
    mergeRules: Type.Optional(MergeRules),
  }),
  success: { 200: Organization },
  errors: [409],
  etag: true,
});

/** The caller joins an organization that takes people of its email domain. */
export const joinOrganization = operation({
  id: 'joinOrganization',
  owner: 'identity',
  surface: 'public',
  method: 'POST',
  path: '/orgs/{organizationId}/join',
  tag: 'Organizations',
  summary: 'Join an organization by email domain',
  description:
    "The domain of the caller's verified email must be one of the organization's `emailDomains` (400 otherwise). The role " +
    'is `defaultRole`. Members who join again stay as they are.',
  access: 'authenticated',
  params: OrganizationParams,
  success: { 204: null },
  errors: [404, 409],
});

/** Organizations that take people of an email domain. */
export const getOrganizationsForEmailDomain = operation({
  id: 'getOrganizationsForEmailDomain',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/email-domains/{emailDomain}/orgs',
  tag: 'Organizations',
  summary: 'List the organizations that people of an email domain may join',
  description:
    'For users whose verified email has this domain, and for instance administrators; 403 for others. At most 100, by id. ' +
    'Of organizations that the caller is no member of, only what it needs for joining is shown.',
  access: 'authenticated',
  params: closed({ emailDomain: EmailDomain }),
  success: { 200: closed({ organizations: Type.Array(Organization) }) },
});

/** Operations on organizations. */
export const organizationOperations = {
  listOrganizationsForAuthenticatedUser,
  createOrganization,
  getOrganizationById,
  updateOrganizationById,
  joinOrganization,
  getOrganizationsForEmailDomain,
} as const;

/** Loads organizations to embed them, as the caller sees them; those it is no member of are left out. */
export const loadOrganizations = operation({
  id: 'loadOrganizations',
  reads: true,
  owner: 'identity',
  surface: 'internal',
  method: 'POST',
  path: '/identity/load-organizations',
  tag: 'Internal',
  summary: 'Load organizations by id',
  access: 'service',
  body: closed({ ids: Type.Array(Id(), { maxItems: 1000 }) }),
  success: { 200: closed({ organizations: Type.Array(Organization) }) },
});

/** The merge rules of an organization, for spaces that inherit them. */
export const loadMergeRules = operation({
  id: 'loadMergeRules',
  reads: true,
  owner: 'identity',
  surface: 'internal',
  method: 'POST',
  path: '/identity/load-merge-rules',
  tag: 'Internal',
  summary: 'Load the merge rules of an organization',
  access: 'service',
  body: closed({ organizationId: Id() }),
  success: { 200: closed({ mergeRules: MergeRules }) },
});

/** What our own services ask about organizations. */
export const organizationInternalOperations = { loadOrganizations, loadMergeRules } as const;
