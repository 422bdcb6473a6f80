import type { samlOperations } from '@bindery/contracts';
import type { OperationAnswer } from '@bindery/service-kit';
import { addressesOf } from './addresses.ts';
import { isActive, type ProviderDocument } from './read-model.ts';

type Provider = Extract<
  OperationAnswer<typeof samlOperations.getOrganizationSAMLProviderById>,
  { status: 200 }
>['body'];

/** A provider as its administrators see it; the gateway puts the team in. */
export const presentProvider = (provider: ProviderDocument, baseUrl: string): Provider => {
  const { id, organizationId, label, createdAt, defaultRole, defaultTeam } = provider;
  const { acsURL, startURL, entityID } = addressesOf(baseUrl, id);
  return {
    object: 'saml-provider',
    id,
    label,
    ssoURL: provider.ssoURL ?? '',
    entityID: provider.entityID ?? '',
    certificate: provider.certificates.join(''),
    ...(defaultTeam === undefined ? {} : { defaultTeam }),
    defaultRole,
    createdAt,
    status: isActive(provider) ? 'active' : 'pending',
    service: { acsURL, startURL, entityID },
    urls: { location: `${baseUrl}/v1/orgs/${organizationId}/saml/${id}` },
  };
};
