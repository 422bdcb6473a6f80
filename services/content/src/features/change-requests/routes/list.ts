import type { ChangeRequest, changeRequestOperations } from '@bindery/contracts';
import type { Where } from '@bindery/read-store';
import { type HandlersFor, listIdentity } from '@bindery/service-kit';
import type { ChangeRequestRouteDeps } from '../deps.ts';
import { type ChangeRequestPage, listChangeRequests } from '../list.ts';
import { listVisibleChangeRequests } from '../list-visible.ts';
import { presentChangeRequest } from '../present.ts';

type Handlers = HandlersFor<typeof changeRequestOperations>;

/** Filters of both lists. */
interface Filters {
  readonly creator?: string;
  readonly contributor?: string;
  readonly requestedReviewer?: string;
  readonly topic?: string;
  readonly conversationsIssuesCluster?: string;
  readonly site?: string;
  readonly styleguideRun?: string;
  readonly finding?: 'none' | 'all';
}

/** There are no topics, findings, runs and clusters yet: whoever asks for change requests with one gets none. */
const matchesNothing = (query: Filters): boolean =>
  query.topic !== undefined ||
  query.conversationsIssuesCluster !== undefined ||
  query.site !== undefined ||
  query.styleguideRun !== undefined ||
  query.finding === 'all';

const whereOf = (query: Filters): Where => ({
  ...(query.creator === undefined ? {} : { createdBy: query.creator }),
  ...(query.requestedReviewer === undefined ? {} : { requestedReviewers: { contains: query.requestedReviewer } }),
  ...(query.contributor === undefined ? {} : { contributors: { contains: query.contributor } }),
});

const answer = async (
  { openComments }: Pick<ChangeRequestRouteDeps, 'openComments'>,
  baseUrl: string,
  { items, count, next }: ChangeRequestPage,
  head: (spaceId: string) => string,
): Promise<{ next?: { page: string }; count?: number; items: ChangeRequest[] }> => {
  const comments = await openComments.ofMany(items.map(({ id }) => id));
  return {
    ...(next ? { next: { ...next } } : {}),
    ...(count === undefined ? {} : { count }),
    items: items.map(({ document }, index) =>
      presentChangeRequest(baseUrl, document, head(document.spaceId), comments[index] ?? 0),
    ),
  };
};

/** GET /spaces/{spaceId}/change-requests */
export const listChangeRequestsForSpace =
  (deps: ChangeRequestRouteDeps): Handlers['listChangeRequestsForSpace'] =>
  async (context, { params, query }) => {
    const { space } = await deps.access.space(context, params.spaceId, 'view');
    const { status = 'open', ...rest } = query;
    const filter = { spaceId: params.spaceId, status, ...whereOf(query) };
    const list = listIdentity('listChangeRequestsForSpace', { ...params, ...rest, status });
    const request = { ...rest, list };
    const filters = matchesNothing(query) ? [] : [filter];
    const page = await listChangeRequests(deps.changeRequests, filters, request, deps.cursors);
    return { status: 200, body: await answer(deps, context.baseUrl, page, () => space.revision) };
  };

/** GET /orgs/{organizationId}/change-requests */
export const listChangeRequestsForOrganization =
  (deps: ChangeRequestRouteDeps): Handlers['listChangeRequestsForOrganization'] =>
  async (context, { params, query }) => {
    const { organizationId } = params;
    const visible = await deps.access.visibleSpaces(context, organizationId);
    const { status = ['open'], space, ...rest } = query;
    const statuses = [...new Set(status)].sort();
    const list = listIdentity('listChangeRequestsForOrganization', { ...params, ...rest, space, status: statuses });
    const { heads, ...page } = matchesNothing(query)
      ? { items: [], count: 0, heads: new Map<string, string>() }
      : await listVisibleChangeRequests(
          deps,
          visible,
          { status: { in: statuses }, ...whereOf(query) },
          { ...rest, list, ...(space === undefined ? {} : { space }) },
        );
    return { status: 200, body: await answer(deps, context.baseUrl, page, (id) => heads.get(id) ?? '') };
  };
