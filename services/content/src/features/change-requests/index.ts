export { changeRequestAggregate } from './aggregate.ts';
export { expectedRevision } from './answer.ts';
export { fieldsOf } from './content/front-matter.ts';
export { byStableForm, inApplication } from './content/links.ts';
export { planTemplate } from './content/plan-template.ts';
export type { ChangeRequestRepository, ChangeRequestRouteDeps, MergeDeps } from './deps.ts';
export type { ChangeRequestEvent, ChangeRequestStatus, ReviewStatus, ReviewSubject } from './events.ts';
export { createMergePolicy, type MergePolicy } from './merge-policy.ts';
export { createMerging, type Merging } from './merging.ts';
export { changeRequestLocation, presentChangeRequest } from './present.ts';
export { changeRequestReactors } from './reactors/index.ts';
export { purgeContent } from './reactors/purge-content.ts';
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
export { createSerial } from './serial.ts';
export { serviceMetadata } from './service-metadata.ts';
export { createStaleMerges, type StaleMerges } from './stale-merges.ts';
export { mergeRevisions } from './three-way.ts';
