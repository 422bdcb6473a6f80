import type { spaceOperations } from '@bindery/contracts';
import type { HandlersFor } from '@bindery/service-kit';
import type { SpaceRouteDeps } from '../deps.ts';
import { createSpace } from './create.ts';
import { duplicateSpace } from './duplicate.ts';
import { deleteSpace, restoreSpace } from './life.ts';
import { getSpace, listSpacesInOrganization } from './read.ts';
import { updateSpace } from './settings.ts';

/** Handlers of all operations on spaces themselves. */
export const createSpaceHandlers = (deps: SpaceRouteDeps): HandlersFor<typeof spaceOperations> => ({
  createSpace: createSpace(deps),
  listSpacesInOrganizationById: listSpacesInOrganization(deps),
  getSpaceById: getSpace(deps),
  updateSpaceById: updateSpace(deps),
  deleteSpaceById: deleteSpace(deps),
  restoreSpace: restoreSpace(deps),
  duplicateSpace: duplicateSpace(deps),
});
