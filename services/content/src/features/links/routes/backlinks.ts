import type { ContentLocation, linkOperations } from '@bindery/contracts';
import { type HandlersFor, listIdentity, notFound, type OperationContext } from '@bindery/service-kit';
import type { LinksDeps } from '../deps.ts';
import { keyOf } from '../keys.ts';
import { createPresenter } from '../present.ts';
import { lookUpSpaces, noSurroundings } from '../resolve.ts';
import { caughtUp, openLinks } from '../view.ts';

type Handlers = HandlersFor<typeof linkOperations>;

const defaultLimit = 50;
/** Links read at a time, and most that are looked at for one answer. */
const batch = 200;
const maxExamined = 5000;

interface Place {
  readonly spaceId: string;
  readonly location: string;
}

interface Found {
  readonly items: readonly ContentLocation[];
  /** The last place that was looked at, when there may be more. */
  readonly more?: Place;
}

/**
 * What links to a page or file, by space and location. Spaces that the caller may not view are passed over as a whole, and
 * several links of one location are one item.
 */
const find = async (
  deps: LinksDeps,
  context: OperationContext,
  wanted: {
    readonly resource: string;
    readonly organizationId: string;
    readonly limit: number;
    readonly after?: Place;
  },
): Promise<Found> => {
  const { resource, organizationId, limit } = wanted;
  const { links } = openLinks(deps.live);
  const around = noSurroundings();
  const presenter = createPresenter(deps, context, organizationId, around);
  const items: ContentLocation[] = [];
  let at = wanted.after;
  for (let examined = 0; ; ) {
    const found = await links.query({
      where: { resource, ...(at === undefined ? {} : { spaceId: { gte: at.spaceId } }) },
      orderBy: [
        { field: 'spaceId', direction: 'asc' },
        { field: 'location', direction: 'asc' },
      ],
      // The id comes last in the order; no id is after this one.
      ...(at === undefined ? {} : { after: [at.spaceId, at.location, '\uffff'] }),
      limit: batch,
    });
    await lookUpSpaces(deps, context, around, new Set(found.map(({ document }) => document.spaceId)));
    for (const { document } of found) {
      if (at !== undefined && at.spaceId === document.spaceId && at.location === document.location) continue;
      const space = around.spaces.get(document.spaceId);
      if (space?.organization === organizationId) {
        const item = await presenter.location(document.spaceId, document.location, document.node);
        if (item !== undefined) {
          if (items.length === limit) return { items, ...(at === undefined ? {} : { more: at }) };
          items.push(item);
        }
      }
      at = { spaceId: document.spaceId, location: document.location };
    }
    if (found.length < batch || at === undefined) return { items };
    examined += found.length;
    // Nothing of a space that the caller may not view is read twice.
    if (around.spaces.get(at.spaceId)?.organization !== organizationId) at = { ...at, location: '\uffff' };
    if (examined >= maxExamined) return { items, more: at };
  }
};

const answer = async (
  deps: LinksDeps,
  context: OperationContext,
  request: { readonly organizationId: string; readonly resource: string; readonly list: string },
  { limit = defaultLimit, page }: { readonly limit?: number; readonly page?: string },
) => {
  const { list, ...wanted } = request;
  const [spaceId, location] = page === undefined ? [] : deps.cursors.decode(list, page);
  const isPlace = typeof spaceId === 'string' && typeof location === 'string';
  if (limit === 0) return { status: 200 as const, body: { items: [] } };
  await caughtUp(deps);
  const after = isPlace ? { after: { spaceId, location } } : {};
  const { items, more } = await find(deps, context, { ...wanted, limit, ...after });
  const next = more && { page: deps.cursors.encode(list, [more.spaceId, more.location]) };
  return { status: 200 as const, body: { ...(next ? { next } : {}), items: [...items] } };
};

/** GET /spaces/{spaceId}/content/page/{pageId}/backlinks */
export const listPageBacklinks =
  (deps: LinksDeps): Handlers['listSpacePageBacklinks'] =>
  async (context, { params, query }) => {
    const { space } = await deps.access.space(context, params.spaceId, 'view');
    const tree = await deps.reader.tree(space.id, space.revision);
    if (tree.page(params.pageId) === undefined) throw notFound('page');
    const resource = keyOf({ kind: 'page', space: space.id, page: params.pageId });
    const list = listIdentity('listSpacePageBacklinks', params);
    return answer(deps, context, { organizationId: space.organizationId, resource, list }, query);
  };

/** GET /spaces/{spaceId}/content/files/{fileId}/backlinks */
export const listFileBacklinks =
  (deps: LinksDeps): Handlers['listSpaceFileBacklinks'] =>
  async (context, { params, query }) => {
    const { space } = await deps.access.space(context, params.spaceId, 'view');
    const tree = await deps.reader.tree(space.id, space.revision);
    if (tree.file(params.fileId) === undefined) throw notFound('file');
    const resource = keyOf({ kind: 'file', space: space.id, file: params.fileId });
    const list = listIdentity('listSpaceFileBacklinks', params);
    return answer(deps, context, { organizationId: space.organizationId, resource, list }, query);
  };
