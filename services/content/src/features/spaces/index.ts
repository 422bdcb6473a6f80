export { type SpaceDocument, spacesCollection } from '../space-model/index.ts';
export { spaceAggregate } from './aggregate.ts';
export { answerSpace, expectedRevision, presentSpaces, type SpaceAt, spaceAfter } from './answer.ts';
export { type ChangeRequestCounts, type CountSource, createChangeRequestCounts, type SpaceCounts } from './counts.ts';
export { openSpaces, type Placement, type SpaceRepository, type SpaceRouteDeps } from './deps.ts';
export type { SpaceEvent } from './events.ts';
export {
  countSpaces,
  documentsWhere,
  hiddenDocuments,
  listSpaces,
  type SpaceListRequest,
  type SpacesCollection,
  visibleDocuments,
} from './list.ts';
export { presentSpace } from './present.ts';
export { createSpacePurger, type SpacePurger } from './purge.ts';
export { evolveSpace, spacesProjection } from './read-model/projection.ts';
export { createSpaceHandlers } from './routes/index.ts';
