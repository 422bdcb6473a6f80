export { type SpaceDocument, spacesCollection } from './document.ts';
