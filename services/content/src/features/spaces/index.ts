export type { SpaceEvent } from './events.ts';
export { type SpaceDocument, spacesCollection } from './read-model/document.ts';
