import type { PageFieldsInput } from '@bindery/contracts';
import { slugify } from '@bindery/documents';
import { type PageMetadata, uniqueSlug } from '../../revisions/index.ts';
import type { EditSession } from './edit-session.ts';
import { fault } from './faults.ts';

type Fields = { readonly [K in keyof PageMetadata]?: PageMetadata[K] | null | undefined };

/** A text field as given: empty clears it, absent leaves it. */
const clearing = (text: string | undefined): string | null | undefined => (text === '' ? null : text);

/** The metadata fields of a change, without title and slug; null clears. */
export const plainFields = (input: PageFieldsInput): Fields => ({
  emoji: clearing(input.emoji),
  icon: clearing(input.icon),
  description: clearing(input.description),
  condition: clearing(input.condition),
  hidden: input.hidden,
  noIndex: input.noIndex,
  noRobotsIndex: input.noRobotsIndex,
});

/**
 * The slug of a page: the one given, which no sibling may have, or one made from the title, which is made unique.
 * @param given undefined or empty = make one
 * @throws Problem invalid naming the field and the slug
 */
export const slugFor = (
  session: EditSession,
  page: { readonly id: string; readonly parent: string | null; readonly title: string },
  given: string | undefined,
  field: string,
): string => {
  const taken = (slug: string) => session.isTaken(page.parent, slug, page.id);
  if (given === undefined || given === '') return uniqueSlug(slugify(page.title), taken);
  if (given === '.' || given === '..') throw fault('slug_reserved', `${field}.slug`, `"${given}" cannot be a slug`);
  if (taken(given)) throw fault('slug_taken', `${field}.slug`, `a sibling has the slug "${given}" already`);
  return given;
};
