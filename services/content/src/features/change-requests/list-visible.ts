import type { Scalar, Stored, Where } from '@bindery/read-store';
import type { CursorCodec } from '@bindery/service-kit';
import type { VisibleSpaces } from '../access/index.ts';
import {
  countSpaces,
  documentsWhere,
  type SpaceDocument,
  type SpacesCollection,
  visibleDocuments,
} from '../spaces/index.ts';
import {
  type ChangeRequestPage,
  countChangeRequests,
  defaultLimit,
  inSpaces,
  type ListRequest,
  listChangeRequests,
  newest,
  positionOf,
} from './list.ts';
import type { ChangeRequestDocument } from './read-model/document.ts';
import type { ChangeRequestsCollection } from './read-model/lookup.ts';

interface Sources {
  readonly changeRequests: ChangeRequestsCollection;
  readonly spaces: SpacesCollection;
  readonly cursors: CursorCodec;
}

/** A page, and the heads of the spaces that its change requests are in. */
export type VisiblePage = ChangeRequestPage & { readonly heads: ReadonlyMap<string, string> };

/** Up to so many spaces are named in the filters, so that the store pages and counts. */
const mostNamed = 1000;
/** Spaces of one organization that a count looks at. */
const mostCounted = 20_000;
/** Change requests that one page looks at; it is shorter than its limit when most of them are hidden. */
const mostLooked = 5000;
/** Documents in one read (read store port). */
const mostRead = 1000;

/** What is filed under the organization, and what was before its space came there. @param common conditions for all */
const filtersFor = (organizationId: string, common: Where, spaces: readonly SpaceDocument[]): readonly Where[] => {
  const ids = (came: boolean) => spaces.filter(({ received = false }) => received === came).map(({ id }) => id);
  return [
    ...inSpaces(ids(false)).map((where) => ({ ...common, organizationId, ...where })),
    ...inSpaces(ids(true)).map((where) => ({ ...common, ...where })),
  ];
};

const collect = async (documents: AsyncIterable<SpaceDocument>): Promise<readonly SpaceDocument[]> => {
  const all: SpaceDocument[] = [];
  for await (const document of documents) all.push(document);
  return all;
};

const headsOf = (spaces: Iterable<SpaceDocument>): ReadonlyMap<string, string> =>
  new Map([...spaces].map(({ id, revision }) => [id, revision]));

/**
 * One page of the change requests in spaces of an organization that the caller may view. For those who may view many spaces
 * its cost is that of the page, not of the spaces; there is no `count` then, except for `limit` 0, which asks for nothing else.
 * @param common conditions for all of them @param request `space`: only in this one
 */
export const listVisibleChangeRequests = async (
  sources: Sources,
  visible: VisibleSpaces,
  common: Where,
  request: ListRequest & { readonly space?: string },
): Promise<VisiblePage> => {
  const { spaces, changeRequests, cursors } = sources;
  const { organizationId } = visible;
  const named = async (documents: readonly SpaceDocument[]): Promise<VisiblePage> => {
    const filters = filtersFor(organizationId, common, documents);
    return { ...(await listChangeRequests(changeRequests, filters, request, cursors)), heads: headsOf(documents) };
  };
  if (request.space !== undefined) {
    const document = (await spaces.get(request.space))?.document;
    return named(document !== undefined && visible.sees(document) ? [document] : []);
  }
  if ((await countSpaces(spaces, visible)) <= mostNamed)
    return named(await collect(visibleDocuments(spaces, visible, mostNamed)));
  if (request.limit !== 0) return walk(sources, visible, common, request);
  const all = filtersFor(organizationId, common, await collect(visibleDocuments(spaces, visible, mostCounted)));
  return { items: [], count: await countChangeRequests(changeRequests, all), heads: new Map() };
};

/** Looks at the change requests one after the other, and passes over those in spaces that the caller may not view. */
const walk = async (
  { changeRequests, spaces, cursors }: Sources,
  visible: VisibleSpaces,
  common: Where,
  { page, limit = defaultLimit, orderBy = 'updatedAt', list }: ListRequest,
): Promise<VisiblePage> => {
  const { organizationId } = visible;
  const came = await collect(documentsWhere(spaces, { received: true, organizationId, deleted: false }, mostCounted));
  const older = inSpaces(came.filter((space) => visible.sees(space)).map(({ id }) => id));
  const filters = [{ ...common, organizationId }, ...older.map((where) => ({ ...common, ...where }))];
  const seen = new Map<string, SpaceDocument>();
  const items: Stored<ChangeRequestDocument>[] = [];
  let position: readonly Scalar[] | undefined = page === undefined ? undefined : cursors.decode(list, page);
  for (let looked = 0, read = Math.min(limit + 1, mostRead); looked < mostLooked; read = Math.min(read * 2, mostRead)) {
    const found = await newest(changeRequests, filters, orderBy, position, read);
    const fresh = [...new Set(found.map(({ document }) => document.spaceId))].filter((id) => !seen.has(id));
    for (const [id, { document }] of await spaces.getMany(fresh)) seen.set(id, document);
    for (const stored of found) {
      const space = seen.get(stored.document.spaceId);
      if (space !== undefined && visible.sees(space)) {
        const last = items.at(-1);
        if (items.length === limit && last !== undefined)
          return {
            items,
            next: { page: cursors.encode(list, positionOf(last, orderBy)) },
            heads: headsOf(seen.values()),
          };
        items.push(stored);
      }
      position = positionOf(stored, orderBy);
    }
    if (found.length < read)
      return { items, ...(page === undefined ? { count: items.length } : {}), heads: headsOf(seen.values()) };
    looked += found.length;
  }
  return {
    items,
    ...(position ? { next: { page: cursors.encode(list, position) } } : {}),
    heads: headsOf(seen.values()),
  };
};
