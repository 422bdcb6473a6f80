import Type, { type Static } from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, Id, listOf, paging, Uri, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';

const Score = Type.Number({ minimum: 0, description: 'Higher fits better; comparable within one answer.' });
const appUrl = closed({ app: Uri });

const SearchSectionResult = component(
  'SearchSectionResult',
  closed({
    id: Type.String(),
    title: Type.String(),
    path: Type.String({ description: 'Path of the page and anchor of the section.' }),
    score: Score,
    resultType: words(['section']),
    body: Type.String({ description: 'The text around what was found.' }),
    urls: appUrl,
  }),
);

/** A page that was found (resources section 26). */
export const SearchPageResult = component(
  'SearchPageResult',
  closed({
    id: Id(),
    title: Type.String(),
    description: Type.String(),
    path: Type.String(),
    score: Score,
    rank: Type.Integer({ minimum: 1, description: 'Place in the whole list.' }),
    resultType: words(['page']),
    sections: Type.Optional(Type.Array(SearchSectionResult)),
    ancestors: Type.Array(closed({ title: Type.String() }), { description: 'The pages above, from the top.' }),
    urls: appUrl,
  }),
);
export type SearchPageResult = Static<typeof SearchPageResult>;

/** A space in which pages were found (resources section 26). */
export const SearchSpaceResult = component(
  'SearchSpaceResult',
  closed({
    type: Type.Literal('space'),
    id: Id(),
    title: Type.String(),
    score: Score,
    pages: Type.Array(SearchPageResult),
  }),
);
export type SearchSpaceResult = Static<typeof SearchSpaceResult>;

const query = {
  query: Type.String({ maxLength: limits.search.query, description: 'Words; the last one may be a beginning.' }),
  ...paging,
};

/** Full-text search over the primary content of spaces. */
export const searchOperations = {
  searchSpaceContent: operation({
    id: 'searchSpaceContent',
    owner: 'content',
    surface: 'public',
    method: 'GET',
    path: '/spaces/{spaceId}/search',
    tag: 'Search',
    summary: 'Search a space',
    access: 'space:view',
    scope: 'space:read',
    params: closed({ spaceId: Id() }),
    query: closed(query),
    success: { 200: listOf(SearchPageResult) },
  }),
  searchOrganizationContent: operation({
    id: 'searchOrganizationContent',
    owner: 'content',
    surface: 'public',
    method: 'GET',
    path: '/orgs/{organizationId}/search',
    tag: 'Search',
    summary: 'Search an organization',
    description: 'Over all spaces that the caller may view, the best space first.',
    access: 'organization:view',
    scope: 'organization:search',
    params: closed({ organizationId: Id() }),
    query: closed(query),
    success: { 200: listOf(SearchSpaceResult) },
  }),
};
