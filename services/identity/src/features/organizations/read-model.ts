import { documentPerStream, type LiveCollection, type Projection } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import { searchable } from '../../shared/text.ts';
import type { OrganizationEvent } from './events.ts';
import { changedSettings, initialSettings, type OrganizationSettings, organizationAggregateName } from './state.ts';

/** An organization as it is read. */
export interface OrganizationDocument extends OrganizationSettings {
  readonly id: string;
  /** Title for sorting. */
  readonly sortTitle: string;
  readonly createdAt: string;
  readonly createdBy: string;
  /** Version of the settings: the ETag. */
  readonly version: number;
}

/** Organizations by id. */
export const organizationCollection: CollectionSpec = {
  name: 'identity.organizations',
  version: 2,
  indexes: [{ name: 'by-email-domain', fields: ['emailDomains'], multi: true }],
};

/** Document of an organization as it begins. */
export const newOrganization = (
  data: Extract<OrganizationEvent, { type: 'OrganizationCreated' }>['data'],
): OrganizationDocument => {
  const { organizationId: id, title, emailDomains, createdAt, createdBy } = data;
  const sortTitle = searchable(title);
  return { ...initialSettings(title, emailDomains), id, sortTitle, createdAt, createdBy, version: 0 };
};

/** Organizations without their members, who have a read model of their own. */
export const organizationsProjection: Projection = documentPerStream<OrganizationEvent, OrganizationDocument>({
  name: 'organizations',
  aggregate: organizationAggregateName,
  collection: organizationCollection,
  handles: ['OrganizationCreated', 'OrganizationUpdated'],
  evolve: (document, event) => {
    if (event.type === 'OrganizationCreated') return newOrganization(event.data);
    if (event.type !== 'OrganizationUpdated' || document === undefined) return document;
    const { changes, version } = event.data;
    const settings = changedSettings(document, changes);
    return { ...document, ...settings, sortTitle: searchable(settings.title), version };
  },
});

export type LiveOrganizations = () => ReturnType<typeof openOrganizations>;

export const openOrganizations = (live: LiveCollection) => live<OrganizationDocument>(organizationCollection);
