import type { linkOperations } from '@bindery/contracts';
import type { HandlersFor } from '@bindery/service-kit';
import type { LinksDeps } from './deps.ts';
import { listFileBacklinks, listPageBacklinks } from './routes/backlinks.ts';
import { listPageLinks, listSpaceLinks } from './routes/links.ts';

export type { LinksDeps } from './deps.ts';
export { linksProjection } from './read-model/projection.ts';

/** Links of spaces and pages, backlinks of pages and files. */
export const createLinksFeature = (deps: LinksDeps): { readonly handlers: HandlersFor<typeof linkOperations> } => ({
  handlers: {
    listSpaceLinks: listSpaceLinks(deps),
    listPageLinksInSpace: listPageLinks(deps),
    listSpacePageBacklinks: listPageBacklinks(deps),
    listSpaceFileBacklinks: listFileBacklinks(deps),
  },
});
