import type { ApplySpaceTemplate, ContentChangeInput, ContentRef } from '@bindery/contracts';
import { invalid } from '@bindery/service-kit';
import { refWriter } from '../pages/index.ts';
import { apiReference } from './catalogue/api-reference.ts';
import { handbook } from './catalogue/handbook.ts';
import { productDocs } from './catalogue/product-docs.ts';
import { releaseNotes } from './catalogue/release-notes.ts';
import type { Template } from './model.ts';

/** Every template that there is. */
export const templates: readonly Template[] = [productDocs, apiReference, handbook, releaseNotes];

/** Where a template goes. */
export interface TemplatePlace {
  readonly baseUrl: string;
  readonly spaceId: string;
}

/** Nothing in an address may end the link in which it stands. */
const addressIn = (address: string): string =>
  address.replace(/[\s<>()[\]\\]/g, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`);

/**
 * The pages of a template as edits, parents first, with its named links filled in.
 * @param field where the template stands in the request
 * @throws Problem 400 for a template, or a link of it, that does not exist
 */
export const changesOfTemplate = (
  { id, params }: ApplySpaceTemplate,
  { baseUrl, spaceId }: TemplatePlace,
  field: string,
): readonly ContentChangeInput[] => {
  const template = templates.find((it) => it.id === id);
  if (template === undefined) {
    const known = templates.map((it) => it.id).join(', ');
    throw invalid('template.unknown', `${field}.id: there is no such template; there are: ${known}.`);
  }
  const write = refWriter({ baseUrl, spaceId, style: 'stable' });
  const links = new Map(Object.entries(template.links));
  for (const [name, ref] of Object.entries<ContentRef>(params?.contentRefs ?? {})) {
    if (!links.has(name)) {
      const names = [...links.keys()].join(', ');
      throw invalid('template.unknown_link', `${field}.params.contentRefs: the template has only the links ${names}.`);
    }
    links.set(name, write(ref));
  }
  // Names of one batch, unlike any path that a space is likely to have.
  const nameOf = (page: string): string => `template-${template.id}-${page}`;
  const filled = (markdown: string): string =>
    markdown
      .replace(/\]\(\.\/([a-z-]+)\.md\)/g, (_, page: string) => `](./${nameOf(page)}.md)`)
      .replace(/\]\(template:([a-z-]+)\)/g, (_, name: string) => `](${addressIn(links.get(name) ?? '')})`);
  return template.pages.map(({ name, title, description, emoji, into, markdown }) => ({
    operation: 'insert_page',
    ref: nameOf(name),
    title,
    document: { markdown: filled(markdown) },
    ...(description === undefined ? {} : { description }),
    ...(emoji === undefined ? {} : { emoji }),
    ...(into === undefined ? {} : { into: nameOf(into) }),
  }));
};
