import { documentPerStream, type LiveCollection, type Projection } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import type { ProviderEvent, ProviderSettings } from './events.ts';
import { providerAggregateName, settingsOf } from './state.ts';

/** An identity provider as it is read. */
export interface ProviderDocument extends ProviderSettings {
  readonly id: string;
  readonly organizationId: string;
  readonly createdAt: string;
}

/** Identity providers by id. */
export const providerCollection: CollectionSpec = {
  name: 'identity.saml-providers',
  version: 1,
  indexes: [{ name: 'by-organization', fields: ['organizationId', 'createdAt'] }],
};

/** One document per provider, gone with it. */
export const samlProvidersProjection: Projection = documentPerStream<ProviderEvent, ProviderDocument>({
  name: 'saml-providers',
  aggregate: providerAggregateName,
  collection: providerCollection,
  handles: ['SamlProviderCreated', 'SamlProviderChanged', 'SamlProviderDeleted'],
  evolve: (document, event) => {
    switch (event.type) {
      case 'SamlProviderCreated': {
        const { providerId: id, organizationId, createdAt } = event.data;
        return { ...settingsOf(event.data), id, organizationId, createdAt };
      }
      case 'SamlProviderChanged':
        return document === undefined ? undefined : { ...document, ...event.data.changes };
      default:
        return null;
    }
  },
});

export type LiveProviders = () => ReturnType<typeof openProviders>;

export const openProviders = (live: LiveCollection) => live<ProviderDocument>(providerCollection);

/** A provider that people can sign in through: everything that is needed for it is there. */
export type ActiveProvider = ProviderDocument & { readonly entityID: string; readonly ssoURL: string };

export const isActive = (provider: ProviderDocument): provider is ActiveProvider =>
  provider.entityID !== undefined && provider.ssoURL !== undefined && provider.certificates.length > 0;

/** The active providers of an organization, oldest first. */
export const activeProviders = async (
  providers: LiveProviders,
  organizationId: string,
  most: number,
): Promise<readonly ActiveProvider[]> =>
  (
    await providers().query({
      where: { organizationId },
      orderBy: [{ field: 'createdAt', direction: 'asc' }],
      limit: most,
    })
  )
    .map(({ document }) => document)
    .filter(isActive);
