import type { organizationOperations } from '@bindery/contracts';
import type { Membership, OperationAnswer } from '@bindery/service-kit';
import { organizationPermissions } from './permissions.ts';
import type { OrganizationDocument } from './read-model.ts';

type Organization = Extract<
  OperationAnswer<typeof organizationOperations.getOrganizationById>,
  { status: 200 }
>['body'];

/** An organization as the API shows it to one of its members. Nobody sells plans here, hence the constants. */
export const presentOrganization = (
  { id, title, emailDomains, createdAt }: OrganizationDocument,
  membership: Membership,
  baseUrl: string,
): Organization => ({
  object: 'organization',
  id,
  title,
  createdAt,
  emailDomains: [...emailDomains],
  type: 'business',
  defaultRole: null,
  sso: false,
  ai: false,
  inviteLinks: false,
  auditLogs: false,
  plan: 'enterprise_2024',
  mergeRules: { type: 'none' },
  urls: { location: `${baseUrl}/v1/orgs/${id}`, app: `${baseUrl}/o/${id}` },
  trial: { status: 'notapplicable', count: 0 },
  permissions: organizationPermissions(membership),
});
