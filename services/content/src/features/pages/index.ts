export type { LatestSpecOf } from './computed.ts';
export { frontMatterOf } from './front-matter.ts';
export {
  type ChangeRequestHeads,
  createLocate,
  type Locate,
  type LocateDeps,
  type LocatedRevision,
  type RevisionParams,
} from './locate.ts';
export { type LinkScope, type LinkStyle, markdownOf, refWriter, type StableLinkScope } from './markdown.ts';
export { markdownPath, normalisedPath, pageAtMarkdownPath } from './paths.ts';
export { type PageScope, pageUrl, presentPage, presentPages, presentReusableContent } from './present.ts';
export { createPageHandlers } from './routes/pages.ts';
export { createReusableContentHandlers } from './routes/reusable-contents.ts';
export { createRevisionHandlers, type RevisionRouteDeps } from './routes/revisions.ts';
