import type { SearchPageResult, SearchSpaceResult, searchOperations } from '@bindery/contracts';
import type { SearchHit, SearchIndex, SearchScope } from '@bindery/search';
import { type CursorCodec, type HandlersFor, invalid, listIdentity } from '@bindery/service-kit';
import type { Access, VisibleSpaces } from '../access/index.ts';
import { pageUrl } from '../pages/index.ts';
import { hiddenDocuments, type SpacesCollection, visibleDocuments } from '../spaces/index.ts';
import type { SearchFeeder } from './feeder.ts';

export interface SearchRouteDeps {
  readonly access: Access;
  readonly index: SearchIndex;
  readonly feeder: Pick<SearchFeeder, 'caughtUp'>;
  readonly spaces: SpacesCollection;
  readonly cursors: CursorCodec;
}

type Handlers = HandlersFor<typeof searchOperations>;

const defaultLimit = 50;
/** How long a search waits for the index to have what was written before it. */
const freshnessMs = 500;
/** Pages in one answer of a search over an organization, however many spaces they are in. */
const hitsPerAnswer = 50;
/** Spaces that a search names at most, to look in them or to leave them out. */
const maxListed = 10_000;

/**
 * What a hit is worth to clients: 4000 when the title is the query, 3000 for all words in the title, 2000 in headings, 1000
 * elsewhere. The finer weight that the index orders by depends on everything that is in it, other organizations included,
 * and on how it came about: it stays inside, so that answers do not change when it is fed anew.
 */
const scoreOf = (hit: SearchHit): number => Math.floor(hit.score / 1000) * 1000;

const presentHit = (baseUrl: string, hit: SearchHit, rank: number): SearchPageResult => {
  const app = pageUrl(baseUrl, hit.spaceId, hit.pageId);
  const sections = hit.sections.map((section) => ({
    id: section.id === '' ? hit.pageId : `${hit.pageId}#${section.id}`,
    title: section.title === '' ? hit.title : section.title,
    path: section.id === '' ? hit.path : `${hit.path}#${section.id}`,
    score: section.score,
    resultType: 'section' as const,
    body: section.body,
    urls: { app: section.id === '' ? app : `${app}#${section.id}` },
  }));
  return {
    id: hit.pageId,
    title: hit.title,
    description: hit.description,
    path: hit.path,
    score: scoreOf(hit),
    rank,
    resultType: 'page',
    ...(sections.length > 0 ? { sections } : {}),
    ancestors: hit.ancestors.map((title) => ({ title })),
    urls: { app },
  };
};

/** GET /spaces/{spaceId}/search */
const searchSpace =
  ({ access, index, feeder, cursors }: SearchRouteDeps): Handlers['searchSpaceContent'] =>
  async (context, { params, query }) => {
    const { space } = await access.space(context, params.spaceId, 'view');
    const { query: text, limit = defaultLimit, page } = query;
    const list = listIdentity('searchSpaceContent', { ...params, query: text });
    const [score, pageId, spaceId, shown] = page === undefined ? [] : cursors.decode(list, page);
    const isCursor = typeof score === 'number' && typeof pageId === 'string' && typeof spaceId === 'string';
    if (limit === 0) return { status: 200, body: { items: [] } };
    await feeder.caughtUp(freshnessMs);
    const hits = await index.search({
      query: text,
      spaces: [space.id],
      limit: limit + 1,
      ...(isCursor ? { after: { score, pageId, spaceId, shown: typeof shown === 'number' ? shown : 0 } } : {}),
    });
    const before = typeof shown === 'number' ? shown : 0;
    const items = hits.slice(0, limit).map((hit, at) => presentHit(context.baseUrl, hit, before + at + 1));
    const last = hits.length > limit ? hits[limit - 1] : undefined;
    const next = last && {
      page: cursors.encode(list, [scoreOf(last), last.pageId, last.spaceId, before + items.length]),
    };
    return { status: 200, body: { ...(next ? { next } : {}), items } };
  };

/** Undefined when there are more than a search may name. */
const idsOf = async (documents: AsyncIterable<{ readonly id: string }>): Promise<readonly string[] | undefined> => {
  const ids: string[] = [];
  for await (const { id } of documents) ids.push(id);
  return ids.length > maxListed ? undefined : ids;
};

/** Where to search for a caller: the index itself leaves out what it may not see. */
const scopeOf = async (spaces: SpacesCollection, visible: VisibleSpaces): Promise<SearchScope> => {
  const { organizationId } = visible;
  if (visible.all) return { organizationId };
  // What fits: where not to look, or else where to look.
  const except = visible.openToMembers ? await idsOf(hiddenDocuments(spaces, visible, maxListed + 1)) : undefined;
  if (except !== undefined) return { organizationId, except };
  const only = await idsOf(visibleDocuments(spaces, visible, maxListed + 1));
  if (only !== undefined) return { organizationId, only };
  throw invalid('search.too_many_spaces', 'The organization has too many restricted spaces to be searched at once.');
};

interface FoundSpace {
  readonly id: string;
  readonly pages: { readonly hit: SearchHit; readonly rank: number }[];
}

/**
 * Hits by space, the space with the best hit first, as far as they are in at most `limit` spaces.
 * @returns also how many hits that were
 */
const bySpace = (
  hits: readonly SearchHit[],
  limit: number,
  before: number,
): { readonly spaces: readonly FoundSpace[]; readonly taken: number } => {
  const found = new Map<string, FoundSpace>();
  let taken = 0;
  for (const hit of hits) {
    const known = found.get(hit.spaceId);
    if (known === undefined && found.size === limit) break;
    const space = known ?? { id: hit.spaceId, pages: [] };
    found.set(hit.spaceId, space);
    taken += 1;
    space.pages.push({ hit, rank: before + taken });
  }
  return { spaces: [...found.values()], taken };
};

/**
 * GET /orgs/{organizationId}/search. One look into the index per request: the answer holds the best pages, grouped by space;
 * the next one goes on after the last of them. So no page is left out or comes twice, and a space with many hits is
 * there again with its further pages.
 */
const searchOrganization =
  ({ access, index, feeder, spaces, cursors }: SearchRouteDeps): Handlers['searchOrganizationContent'] =>
  async (context, { params, query }) => {
    const visible = await access.visibleSpaces(context, params.organizationId);
    const { query: text, limit = defaultLimit, page } = query;
    const list = listIdentity('searchOrganizationContent', { ...params, query: text });
    const [score, pageId, spaceId, shown] = page === undefined ? [] : cursors.decode(list, page);
    const isCursor = typeof score === 'number' && typeof pageId === 'string' && typeof spaceId === 'string';
    if (limit === 0) return { status: 200, body: { items: [] } };
    await feeder.caughtUp(freshnessMs);
    const hits = await index.search({
      query: text,
      spaces: await scopeOf(spaces, visible),
      limit: hitsPerAnswer + 1,
      ...(isCursor ? { after: { score, pageId, spaceId, shown: typeof shown === 'number' ? shown : 0 } } : {}),
    });
    const before = typeof shown === 'number' ? shown : 0;
    const found = bySpace(hits.slice(0, hitsPerAnswer), limit, before);
    const documents = await spaces.getMany(found.spaces.map(({ id }) => id));
    const items: SearchSpaceResult[] = [];
    for (const { id, pages } of found.spaces) {
      const space = documents.get(id)?.document;
      // The index follows the spaces: one that was deleted or closed a moment ago may still be in it.
      if (space === undefined || space.deleted || !(await access.describe(context, space)).permissions.view) continue;
      const results = pages.map(({ hit, rank }) => presentHit(context.baseUrl, hit, rank));
      items.push({ type: 'space', id, title: space.title, score: results[0]?.score ?? 0, pages: results });
    }
    const last = hits.length > found.taken ? hits[found.taken - 1] : undefined;
    const next = last && {
      page: cursors.encode(list, [scoreOf(last), last.pageId, last.spaceId, before + found.taken]),
    };
    return { status: 200, body: { ...(next ? { next } : {}), items } };
  };

/** Handlers of both searches (resources section 26). */
export const createSearchHandlers = (deps: SearchRouteDeps): Handlers => ({
  searchSpaceContent: searchSpace(deps),
  searchOrganizationContent: searchOrganization(deps),
});
