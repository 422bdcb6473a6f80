export { type SpaceDocument, spacesCollection } from './read-model/document.ts';
