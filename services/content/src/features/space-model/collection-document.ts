import type { Space } from '@bindery/contracts';
import type { CollectionSpec } from '@bindery/read-store';

/** A collection as stored for reading; its key is `<organization>.<collection>`, as its stream is the organization's. */
export interface CollectionDocument {
  readonly id: string;
  readonly organizationId: string;
  readonly title: string;
  readonly description?: string;
  readonly parent: string | null;
  readonly defaultLevel: Space['defaultLevel'];
  /** Place among its siblings: spaces and collections of the same parent. */
  readonly order: string;
  /** `deleted` and `sent` (to another organization) ones stay as a trace; `leaving` ones are about to be sent. */
  readonly status: 'active' | 'leaving' | 'sent' | 'deleted';
  /** Neither sent nor deleted. */
  readonly alive: boolean;
  /** Of deleted ones: what their default meant in the end, for spaces that are restored without them. */
  readonly lastDefault?: Space['defaultLevel'];
}

export const collectionsSpec: CollectionSpec = {
  name: 'content.collections',
  version: 1,
  indexes: [
    { name: 'by_organization', fields: ['organizationId', 'alive'] },
    { name: 'by_id', fields: ['id', 'alive'] },
  ],
};

/** Says by its revision whether any collection of an organization has changed. Its key is the organization's id. */
export interface CollectionTreeDocument {
  readonly organizationId: string;
}

export const collectionTreesSpec: CollectionSpec = { name: 'content.collection-trees', version: 1, indexes: [] };

export const collectionKey = (organizationId: string, collectionId: string): string =>
  `${organizationId}.${collectionId}`;
