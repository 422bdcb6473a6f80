import type { changeRequestOperations, contentChangeOperations } from '@bindery/contracts';
import type { HandlersFor } from '@bindery/service-kit';
import type { ChangeRequestRouteDeps } from '../deps.ts';
import { createMerging } from '../merging.ts';
import { createChangeRequestLookup } from '../read-model/lookup.ts';
import { createSerial } from '../serial.ts';
import { getChangeRequestChanges, getRevisionSemanticChanges } from './changes.ts';
import { createChangeRequest } from './create.ts';
import { updateChangeRequestContent } from './edit-content.ts';
import { getChangeRequestById, getContributors } from './get.ts';
import { listChangeRequestsForOrganization, listChangeRequestsForSpace } from './list.ts';
import { mergeChangeRequest, updateChangeRequest } from './merge.ts';
import { updateChangeRequestById } from './update.ts';

/** The operations on change requests and their content. */
export const createChangeRequestHandlers = (
  given: ChangeRequestRouteDeps,
): HandlersFor<typeof changeRequestOperations & typeof contentChangeOperations> => {
  const serial = createSerial();
  const lookup = createChangeRequestLookup(given.changeRequests);
  const deps = { ...given, serial, lookup, merging: createMerging(given, serial) };
  return {
    listChangeRequestsForSpace: listChangeRequestsForSpace(deps),
    listChangeRequestsForOrganization: listChangeRequestsForOrganization(deps),
    createChangeRequest: createChangeRequest(deps),
    getChangeRequestById: getChangeRequestById(deps),
    updateChangeRequestById: updateChangeRequestById(deps),
    mergeChangeRequest: mergeChangeRequest(deps),
    updateChangeRequest: updateChangeRequest(deps),
    getContributorsByChangeRequestId: getContributors(deps),
    updateChangeRequestContent: updateChangeRequestContent(deps),
    getChangeRequestChanges: getChangeRequestChanges(deps),
    getRevisionSemanticChanges: getRevisionSemanticChanges(deps),
  };
};
