import type { ContentLocation, ContentReferenceUsage, linkOperations } from '@bindery/contracts';
import type { Scalar, Where } from '@bindery/read-store';
import { type HandlersFor, listIdentity, notFound, type OperationContext } from '@bindery/service-kit';
import type { SpaceDocument } from '../../space-model/index.ts';
import type { LinksDeps } from '../deps.ts';
import { urlPlaces } from '../keys.ts';
import { createPresenter, type Presenter } from '../present.ts';
import { type LinkTargetDocument, linksOf, pageLocation, sourceId, targetId } from '../read-model/collections.ts';
import { lookUpSpaces, noSurroundings, type ResolvedTarget, resolveTargets, type Surroundings } from '../resolve.ts';
import { caughtUp, type LinksView, openLinks } from '../view.ts';

type Handlers = HandlersFor<typeof linkOperations>;
type Status = ContentReferenceUsage['status'];

const defaultLimit = 50;
/** Targets looked at for one answer, whatever their status. */
const maxExamined = 5000;
/** Locations shown for one target; the list of backlinks has all of them. */
const maxLocations = 100;
/** Locations in one answer, about; it ends early when its targets have more. */
const maxShown = 1000;
/** Targets outside the space that are looked up to count the broken ones. */
const maxCounted = 5000;
const batch = 1000;
/** Locations of so many targets are read at a time. */
const parallel = 16;

interface Request {
  readonly deps: LinksDeps;
  readonly view: LinksView;
  readonly context: OperationContext;
  readonly space: SpaceDocument;
  readonly around: Surroundings;
  readonly presenter: Presenter;
}

const begin = async (deps: LinksDeps, context: OperationContext, spaceId: string): Promise<Request> => {
  const { space } = await deps.access.space(context, spaceId, 'view');
  await caughtUp(deps);
  const around = noSurroundings();
  await lookUpSpaces(deps, context, around, [space.id]);
  const presenter = createPresenter(deps, context, space.organizationId, around);
  return { deps, view: openLinks(deps.live), context, space, around, presenter };
};

const resolved = (
  { deps, view, context, space, around }: Request,
  documents: readonly Pick<LinkTargetDocument, 'key' | 'target' | 'state'>[],
) => resolveTargets(deps, view, context, space, documents, around);

/** What may have a status, in the store: each of the filters gives its targets in order without sorting them. */
const wheresOf = (request: Request, status: Status | undefined, after: string | undefined): readonly Where[] => {
  const spaceId = request.space.id;
  const beyond = after === undefined ? {} : { target: { gt: after } };
  if (status === undefined) return [{ spaceId, ...beyond }];
  const inStates = (...states: readonly string[]) => states.map((state) => ({ spaceId, ...beyond, state }));
  if (status === 'broken') return inStates('broken', 'outside');
  if (status === 'ok') return inStates('ok', 'url', 'outside');
  const first = urlPlaces(request.context.baseUrl);
  return [
    {
      spaceId,
      state: 'url',
      target: { ...(after === undefined ? { gte: first } : { gt: after }), lt: `${first}\uffff` },
    },
  ];
};

/** The first stored targets, in order, that may have a status. */
const storedTargets = async (
  request: Request,
  status: Status | undefined,
  after: string | undefined,
  limit: number,
): Promise<readonly LinkTargetDocument[]> => {
  const found = await Promise.all(
    wheresOf(request, status, after).map((where) =>
      request.view.targets.query({ where, orderBy: [{ field: 'target', direction: 'asc' }], limit }),
    ),
  );
  const documents = found.flat().map(({ document }) => document);
  if (found.length === 1) return documents;
  return documents.sort((a, b) => (a.target < b.target ? -1 : 1)).slice(0, limit);
};

/** The next targets of a space with a status, as far as they are found among so many. */
const nextTargets = async (
  request: Request,
  status: Status | undefined,
  start: string | undefined,
  limit: number,
): Promise<{ readonly found: readonly ResolvedTarget[]; readonly more?: string }> => {
  const found: ResolvedTarget[] = [];
  let after = start;
  for (let examined = 0; ; ) {
    const size = Math.min(batch, status === undefined ? limit + 1 - found.length : Math.max(limit + 1, 100));
    const stored = await storedTargets(request, status, after, size);
    for (const it of await resolved(request, stored)) {
      if (status !== undefined && it.status !== status) continue;
      if (found.length === limit) return { found, more: found.at(-1)?.document.target ?? '' };
      found.push(it);
    }
    const last = stored.at(-1)?.target;
    if (last === undefined || stored.length < size) return { found };
    examined += stored.length;
    after = last;
    if (examined >= maxExamined) return { found, more: last };
  }
};

const statsOf = async (request: Request): Promise<{ total: number; broken: { total: number } }> => {
  const { view, space } = request;
  const [total, broken] = await Promise.all([
    view.targets.count({ spaceId: space.id }),
    view.targets.count({ spaceId: space.id, state: 'broken' }),
  ]);
  let missing = 0;
  let after: string | undefined;
  for (let seen = 0; seen < maxCounted; ) {
    const where = { spaceId: space.id, state: 'outside', ...(after === undefined ? {} : { target: { gt: after } }) };
    const stored = await view.targets.query({ where, orderBy: [{ field: 'target', direction: 'asc' }], limit: batch });
    const found = await resolved(
      request,
      stored.map(({ document }) => document),
    );
    missing += found.filter(({ status }) => status === 'broken').length;
    seen += stored.length;
    after = stored.at(-1)?.document.target;
    if (stored.length < batch) break;
  }
  return { total, broken: { total: broken + missing } };
};

const usage = async (
  { presenter }: Request,
  it: ResolvedTarget,
  locations: readonly { readonly spaceId: string; readonly location: string; readonly node?: string }[],
): Promise<ContentReferenceUsage> => {
  const targetReference = await presenter.target(it);
  const found: ContentLocation[] = [];
  for (const { spaceId, location, node } of locations) {
    const one = await presenter.location(spaceId, location, node);
    if (one !== undefined) found.push(one);
  }
  return {
    status: it.status,
    // A page depends on the reusable contents that it shows; everything else it only mentions.
    relation: it.target.kind === 'content' ? 'dependsOn' : 'reference',
    ...(targetReference === undefined ? {} : { targetReference }),
    locationReferences: found,
  };
};

/** GET /spaces/{spaceId}/links */
export const listSpaceLinks =
  (deps: LinksDeps): Handlers['listSpaceLinks'] =>
  async (context, { params, query }) => {
    const { limit = defaultLimit, page, status } = query;
    const request = await begin(deps, context, params.spaceId);
    const list = listIdentity('listSpaceLinks', { ...params, status });
    const [start] = page === undefined ? [] : deps.cursors.decode(list, page);
    const stats = await statsOf(request);
    const count = status === undefined ? { count: stats.total } : {};
    if (limit === 0) return { status: 200, body: { ...count, stats, items: [] } };
    const { found, more } = await nextTargets(request, status, typeof start === 'string' ? start : undefined, limit);
    await lookAround(request, found);
    const items: ContentReferenceUsage[] = [];
    let shown = 0;
    for (let at = 0; at < found.length && shown < maxShown; at += parallel) {
      const some = found.slice(at, at + parallel);
      const used = await Promise.all(some.map(async (it) => usage(request, it, await locationsOf(request, it))));
      items.push(...used);
      shown += used.reduce((sum, { locationReferences }) => sum + locationReferences.length, 0);
    }
    const last = items.length < found.length ? found[items.length - 1]?.document.target : more;
    const next = last === undefined ? {} : { next: { page: deps.cursors.encode(list, [last]) } };
    return { status: 200, body: { ...next, ...count, stats, items } };
  };

/** Loads the spaces of targets, so that they can be shown. */
const lookAround = async ({ deps, context, around }: Request, targets: readonly ResolvedTarget[]): Promise<void> => {
  const spaces = targets.flatMap(({ target }) => ('space' in target ? [target.space] : []));
  await lookUpSpaces(deps, context, around, spaces);
};

const locationsOf = async ({ view, space }: Request, { document }: ResolvedTarget) => {
  const found = await view.links.query({
    where: { spaceId: space.id, target: document.target },
    orderBy: [{ field: 'location', direction: 'asc' }],
    limit: maxLocations,
  });
  return found.map((it) => it.document);
};

/** GET /spaces/{spaceId}/content/page/{pageId}/links. A page has few links, so all of them are looked up. */
export const listPageLinks =
  (deps: LinksDeps): Handlers['listPageLinksInSpace'] =>
  async (context, { params, query }) => {
    const { limit = defaultLimit, page, status } = query;
    const { pageId } = params;
    const request = await begin(deps, context, params.spaceId);
    const { space, view } = request;
    const tree = await deps.reader.tree(space.id, space.revision);
    if (tree.page(pageId) === undefined) throw notFound('page');
    const list = listIdentity('listPageLinksInSpace', { ...params, status });
    const [start]: readonly Scalar[] = page === undefined ? [] : deps.cursors.decode(list, page);
    const location = pageLocation(pageId);
    const source = (await view.sources.get(sourceId(space.id, location)))?.document;
    const nodes = new Map<string, string | undefined>();
    for (const [key, node] of linksOf(source)) if (!nodes.has(key)) nodes.set(key, node);
    const all = await resolved(request, await statesOf(request, [...nodes.keys()]));
    const broken = all.filter((it) => it.status === 'broken').length;
    const stats = { total: all.length, broken: { total: broken } };
    const fitting = all.filter((it) => status === undefined || it.status === status);
    const sorted = fitting.toSorted((a, b) => (a.document.target < b.document.target ? -1 : 1));
    const rest = typeof start === 'string' ? sorted.filter(({ document }) => document.target > start) : sorted;
    const shown = rest.slice(0, limit);
    await lookAround(request, shown);
    const items = await Promise.all(
      shown.map((it) => {
        const node = nodes.get(it.document.key);
        return usage(request, it, [{ spaceId: space.id, location, ...(node === undefined ? {} : { node }) }]);
      }),
    );
    const last = rest.length > limit ? shown.at(-1)?.document.target : undefined;
    const next = last === undefined ? {} : { next: { page: deps.cursors.encode(list, [last]) } };
    return { status: 200, body: { ...next, count: fitting.length, stats, items } };
  };

/** Targets of one page with their states, from what the view has of the space. */
const statesOf = async (
  { view, space }: Request,
  keys: readonly string[],
): Promise<readonly Pick<LinkTargetDocument, 'key' | 'target' | 'state'>[]> => {
  const ids = keys.map((key) => targetId(space.id, key));
  const found = new Map<string, LinkTargetDocument>();
  for (let at = 0; at < ids.length; at += batch)
    for (const [id, { document }] of await view.targets.getMany(ids.slice(at, at + batch))) found.set(id, document);
  return keys.flatMap((key) => found.get(targetId(space.id, key)) ?? []);
};
