import { documentPerStream, type LiveCollection, type Projection } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import { searchable } from '../../shared/text.ts';
import type { OrganizationEvent } from './events.ts';
import { organizationAggregateName } from './state.ts';

/** An organization as it is read. */
export interface OrganizationDocument {
  readonly id: string;
  readonly title: string;
  /** Title for sorting. */
  readonly sortTitle: string;
  readonly emailDomains: readonly string[];
  readonly createdAt: string;
}

/** Organizations by id. */
export const organizationCollection: CollectionSpec = { name: 'identity.organizations', version: 1, indexes: [] };

/** Organizations without their members, who have a read model of their own. */
export const organizationsProjection: Projection = documentPerStream<OrganizationEvent, OrganizationDocument>({
  name: 'organizations',
  aggregate: organizationAggregateName,
  collection: organizationCollection,
  handles: ['OrganizationCreated'],
  evolve: (document, event) => {
    if (event.type !== 'OrganizationCreated') return document;
    const { organizationId: id, title, emailDomains, createdAt } = event.data;
    return { id, title, sortTitle: searchable(title), emailDomains, createdAt };
  },
});

export type LiveOrganizations = () => ReturnType<typeof openOrganizations>;

export const openOrganizations = (live: LiveCollection) => live<OrganizationDocument>(organizationCollection);
