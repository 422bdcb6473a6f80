import type { Collection } from '@bindery/contracts';
import type { CollectionPermissions } from '../access/index.ts';
import type { CollectionDocument } from '../space-model/index.ts';

/** Address of a collection in the API; also its `Location`. */
export const collectionLocation = (baseUrl: string, collectionId: string): string =>
  `${baseUrl}/v1/collections/${collectionId}`;

/** A collection as clients see it (resources section 14). */
export const presentCollection = (
  baseUrl: string,
  collection: CollectionDocument,
  permissions: CollectionPermissions,
): Collection => ({
  object: 'collection',
  id: collection.id,
  title: collection.title,
  ...(collection.description === undefined ? {} : { description: collection.description }),
  organization: collection.organizationId,
  ...(collection.parent === null ? {} : { parent: collection.parent }),
  defaultLevel: collection.defaultLevel,
  urls: {
    location: collectionLocation(baseUrl, collection.id),
    app: `${baseUrl}/app/collections/${collection.id}`,
  },
  permissions: { ...permissions },
});
