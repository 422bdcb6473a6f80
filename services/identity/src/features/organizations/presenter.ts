import type { MergeRules, organizationOperations } from '@bindery/contracts';
import type { Membership, OperationAnswer } from '@bindery/service-kit';
import { noPermissions, organizationPermissions } from './permissions.ts';
import type { OrganizationDocument } from './read-model.ts';
import { initialSettings } from './state.ts';

type Organization = Extract<
  OperationAnswer<typeof organizationOperations.getOrganizationById>,
  { status: 200 }
>['body'];

const free = { monthly: 0, yearly: 0 };

/** Nobody sells plans here. */
const billing = (): NonNullable<Organization['billing']> => ({
  interval: 'yearly',
  endDate: null,
  hasPaymentFailed: false,
  canCheckout: false,
  isScheduledToCancel: false,
  pricing: { members: { plus_2024: free, pro_2024: free }, sites: { premium: free, ultimate: free } },
  usageAddons: {},
  canChangeInterval: false,
  canUseSAML: true,
  creditsBundle: null,
  aiCreditAlertThreshold: null,
});

const settingsOf = (document: OrganizationDocument) => ({
  title: document.title,
  emailDomains: [...document.emailDomains],
  ...(document.hostname === undefined ? {} : { hostname: document.hostname.name }),
  defaultRole: document.defaultRole,
  sso: document.sso,
  ai: document.ai,
  inviteLinks: document.inviteLinks,
  mergeRules: document.mergeRules satisfies MergeRules,
});

/** An organization as the API shows it to one of its members; the plan, trial and billing are neutral constants. */
export const presentOrganization = (
  document: OrganizationDocument,
  membership: Membership,
  baseUrl: string,
  ownTeam = false,
): Organization => {
  const permissions = organizationPermissions(membership, ownTeam);
  return {
    object: 'organization',
    id: document.id,
    createdAt: document.createdAt,
    ...settingsOf(document),
    type: 'business',
    auditLogs: true,
    plan: 'enterprise_2024',
    urls: {
      location: `${baseUrl}/v1/orgs/${document.id}`,
      app: `${baseUrl}/o/${document.id}`,
      ...(document.logo === null ? {} : { logo: document.logo }),
    },
    trial: { status: 'notapplicable', count: 0 },
    ...(permissions.viewBilling ? { billing: billing() } : {}),
    permissions,
  };
};

/** What people see of an organization that they may join by their email domain: its name, and settings that tell nothing. */
export const presentJoinableOrganization = (
  document: OrganizationDocument,
  emailDomain: string,
  baseUrl: string,
): Organization => {
  const neutral = { ...document, ...initialSettings(document.title, [emailDomain]), logo: document.logo };
  const { hostname: _, ...unnamed } = neutral;
  return { ...presentOrganization(unnamed, { role: null, teams: [] }, baseUrl), permissions: noPermissions };
};
