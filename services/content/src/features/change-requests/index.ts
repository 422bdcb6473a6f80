export { changeRequestAggregate } from './aggregate.ts';
export { fieldsOf } from './content/front-matter.ts';
export { byStableForm, inApplication } from './content/links.ts';
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
export { serviceMetadata } from './service-metadata.ts';
export { createStaleMerges, type StaleMerges } from './stale-merges.ts';
export { mergeRevisions } from './three-way.ts';
