import type { collectionOperations } from '@bindery/contracts';
import type { HandlersFor } from '@bindery/service-kit';
import type { CollectionRouteDeps } from '../deps.ts';
import { createCollection, deleteCollection, updateCollection } from './change.ts';
import { moveCollection, moveSpace } from './move.ts';
import { getCollection, listCollections, listSpacesInCollection } from './read.ts';
import { transferCollection, transferSpace } from './transfer.ts';

/** Handlers of all operations on collections, and of those that move spaces between them. */
export const createCollectionHandlers = (deps: CollectionRouteDeps): HandlersFor<typeof collectionOperations> => ({
  createCollection: createCollection(deps),
  listCollectionsInOrganizationById: listCollections(deps),
  getCollectionById: getCollection(deps),
  updateCollectionById: updateCollection(deps),
  deleteCollectionById: deleteCollection(deps),
  listSpacesInCollectionById: listSpacesInCollection(deps),
  moveCollection: moveCollection(deps),
  transferCollection: transferCollection(deps),
  moveSpace: moveSpace(deps),
  transferSpace: transferSpace(deps),
});
