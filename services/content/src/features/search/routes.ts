import type { SearchPageResult, SearchSpaceResult, searchOperations } from '@bindery/contracts';
import type { SearchHit, SearchIndex, SearchScope } from '@bindery/search';
import { type CursorCodec, type HandlersFor, invalid, listIdentity } from '@bindery/service-kit';
import type { Access, VisibleSpaces } from '../access/index.ts';
import { pageUrl } from '../pages/index.ts';
import type { SpacesCollection } from '../spaces/index.ts';
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
const maxPagesPerSpace = 10;
/** Hits looked at in one step of a search over an organization, and how many steps there are at most. */
const hitsPerStep = 100;
const maxSteps = 20;
/** Spaces that are kept from members and must be left out, at most. */
const maxHidden = 10_000;

/**
 * What a hit is worth to clients: 4000 when the title is the query, 3000 for all words in the title, 2000 in headings, 1000
 * elsewhere. The finer weight that the index orders by depends on everything that is in it, other organizations included,
 * and on how it came about: it stays inside, so that answers do not change when it is fed anew.
 */
const scoreOf = (hit: SearchHit): number => Math.floor(hit.score / 1000) * 1000;

/** Order of hits where the index leaves it to chance: the same page id in several spaces (copies). */
const inOrder = (a: SearchHit, b: SearchHit): number => {
  if (a.score !== b.score) return b.score - a.score;
  if (a.pageId !== b.pageId) return a.pageId < b.pageId ? -1 : 1;
  return a.spaceId < b.spaceId ? -1 : 1;
};

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
      ...(isCursor ? { after: { score, pageId, spaceId } } : {}),
    });
    const before = typeof shown === 'number' ? shown : 0;
    const items = hits.slice(0, limit).map((hit, at) => presentHit(context.baseUrl, hit, before + at + 1));
    const last = hits.length > limit ? hits[limit - 1] : undefined;
    const next = last && { page: cursors.encode(list, [last.score, last.pageId, last.spaceId, before + items.length]) };
    return { status: 200, body: { ...(next ? { next } : {}), items } };
  };

/** Where to search for a caller: the index itself leaves out what it may not see. */
const scopeOf = async (spaces: SpacesCollection, visible: VisibleSpaces): Promise<SearchScope> => {
  const { organizationId, granted } = visible;
  if (visible.all) return { organizationId };
  if (!visible.openToMembers) return { organizationId, only: granted };
  const except: string[] = [];
  for (let after: readonly [string] | undefined; ; ) {
    const where = { organizationId, deleted: false, openToMembers: false };
    const hidden = await spaces.query({ where, limit: 1000, ...(after ? { after } : {}) });
    except.push(...hidden.map(({ id }) => id).filter((id) => !granted.includes(id)));
    const last = hidden.at(-1);
    if (last === undefined || hidden.length < 1000) return { organizationId, except };
    if (except.length >= maxHidden)
      throw invalid(
        'search.too_many_spaces',
        'The organization has too many restricted spaces to be searched at once.',
      );
    after = [last.id];
  }
};

/** The scope without spaces of which enough is known. */
const without = (scope: SearchScope, done: readonly string[]): SearchScope => {
  if (!('organizationId' in scope)) return scope.filter((id) => !done.includes(id));
  return { ...scope, except: [...(scope.except ?? []), ...done] };
};

interface FoundSpace {
  readonly id: string;
  readonly pages: { readonly hit: SearchHit; readonly rank: number }[];
}

/**
 * Hits by space, the space with the best hit first, until there are `wanted` spaces. A space that has enough pages is left
 * out of the next step, so that one with thousands of hits does not hide the others.
 */
const bestSpaces = async (
  index: SearchIndex,
  query: string,
  everywhere: SearchScope,
  wanted: number,
): Promise<readonly FoundSpace[]> => {
  const found = new Map<string, FoundSpace>();
  let last: SearchHit | undefined;
  let rank = 0;
  for (let step = 0; step < maxSteps && found.size < wanted; step += 1) {
    const done = [...found.values()].filter(({ pages }) => pages.length >= maxPagesPerSpace).map(({ id }) => id);
    const after = last && { after: { score: last.score, pageId: last.pageId, spaceId: last.spaceId } };
    const hits = await index.search({ query, spaces: without(everywhere, done), limit: hitsPerStep, ...after });
    for (const hit of hits.toSorted(inOrder)) {
      rank += 1;
      const space = found.get(hit.spaceId) ?? { id: hit.spaceId, pages: [] };
      found.set(hit.spaceId, space);
      if (space.pages.length < maxPagesPerSpace) space.pages.push({ hit, rank });
    }
    last = hits.at(-1);
    if (hits.length < hitsPerStep) break;
  }
  return [...found.values()];
};

/** GET /orgs/{organizationId}/search */
const searchOrganization =
  ({ access, index, feeder, spaces, cursors }: SearchRouteDeps): Handlers['searchOrganizationContent'] =>
  async (context, { params, query }) => {
    const visible = await access.visibleSpaces(context, params.organizationId);
    const { query: text, limit = defaultLimit, page } = query;
    const list = listIdentity('searchOrganizationContent', { ...params, query: text });
    const [shown] = page === undefined ? [] : cursors.decode(list, page);
    const start = typeof shown === 'number' ? shown : 0;
    if (limit === 0) return { status: 200, body: { items: [] } };
    await feeder.caughtUp(freshnessMs);
    const found = await bestSpaces(index, text, await scopeOf(spaces, visible), start + limit + 1);
    const wanted = found.slice(start, start + limit);
    const documents = await spaces.getMany(wanted.map(({ id }) => id));
    const items: SearchSpaceResult[] = [];
    for (const { id, pages } of wanted) {
      const space = documents.get(id)?.document;
      // The index follows the spaces: one that was deleted or closed a moment ago may still be in it.
      if (space === undefined || space.deleted || !(await access.describe(context, space)).permissions.view) continue;
      const results = pages.map(({ hit, rank }) => presentHit(context.baseUrl, hit, rank));
      items.push({ type: 'space', id, title: space.title, score: results[0]?.score ?? 0, pages: results });
    }
    const more = start + limit < found.length;
    return { status: 200, body: { ...(more ? { next: { page: cursors.encode(list, [start + limit]) } } : {}), items } };
  };

/** Handlers of both searches (resources section 26). */
export const createSearchHandlers = (deps: SearchRouteDeps): Handlers => ({
  searchSpaceContent: searchSpace(deps),
  searchOrganizationContent: searchOrganization(deps),
});
