import type { ContentRef } from '@bindery/contracts';
import type { FrontMatter } from '@bindery/documents';
import type { PageMetadata } from '../revisions/index.ts';
import { coverOf } from './layout.ts';

/**
 * The front matter of a page: everything that edits read back from it, and the keys that nobody here interprets. Title and
 * slug are not in it: the heading and the path say them.
 * @param address writes a reference as an address
 */
export const frontMatterOf = (metadata: PageMetadata, address: (ref: ContentRef) => string): FrontMatter => {
  const { description, emoji, icon, linkTitle, condition, hidden, noIndex, noRobotsIndex } = metadata;
  const { layout, metaLinks, variables, tags, extra } = metadata;
  const cover = coverOf(metadata.cover);
  const all: Readonly<Record<string, unknown>> = {
    description,
    emoji,
    icon,
    linkTitle,
    if: condition,
    hidden,
    noIndex,
    noRobotsIndex,
    cover: cover?.ref && address(cover.ref),
    coverDark: cover?.refDark && address(cover.refDark),
    coverY: cover && metadata.cover?.yPos !== undefined ? cover.yPos : undefined,
    coverHeight: cover?.height,
    layout,
    metaLinks,
    vars: variables,
    tags: tags?.map(({ tag, primary }) => (primary === undefined ? tag : { tag, primary })),
    ...extra,
  };
  // Stored metadata is JSON.
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as FrontMatter;
};
