export { changeRequestAggregate } from './aggregate.ts';
export type { ChangeRequestRepository, ChangeRequestRouteDeps, MergeDeps } from './deps.ts';
export type { ChangeRequestEvent, ChangeRequestStatus } from './events.ts';
export { createMerging, type Merging } from './merging.ts';
export { presentChangeRequest } from './present.ts';
export { changeRequestReactors } from './reactors/index.ts';
export { type ChangeRequestDocument, changeRequestsCollection } from './read-model/document.ts';
export {
  type ChangeRequestLookup,
  type ChangeRequestsCollection,
  createChangeRequestLookup,
  openChangeRequests,
} from './read-model/lookup.ts';
export { changeRequestsProjection } from './read-model/projection.ts';
export { revisionSources } from './revision-sources.ts';
export { createChangeRequestHandlers } from './routes/index.ts';
export { createStaleMerges, type StaleMerges } from './stale-merges.ts';
