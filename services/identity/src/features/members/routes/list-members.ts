import type { listMembersInOrganizationById, QueryOf } from '@bindery/contracts';
import type { Query, Where } from '@bindery/read-store';
import {
  type CursorCodec,
  forbidden,
  listIdentity,
  membershipIn,
  notFound,
  type OperationHandler,
  Problem,
  paginate,
} from '@bindery/service-kit';
import { pageByScan } from '../../../shared/page-by-scan.ts';
import { searchable } from '../../../shared/text.ts';
import { organizationPermissions } from '../../organizations/index.ts';
import type { DirectoryDocument, LiveDirectory } from '../directory.ts';
import type { LastSeen, LastSeenDocument } from '../last-seen.ts';
import type { PresentMembers } from '../presenter.ts';
import { type LiveMembers, membersByUser } from '../queries.ts';
import type { MemberDocument } from '../read-model.ts';

export interface ListMembersDeps {
  readonly members: LiveMembers;
  readonly directory: LiveDirectory;
  /** Waits (bounded) until the directory knows of everything that is acknowledged now; false when it took too long. */
  readonly directoryReady: () => Promise<boolean>;
  readonly lastSeen: LastSeen;
  readonly present: PresentMembers;
  readonly cursors: CursorCodec;
}

type ListQuery = QueryOf<typeof listMembersInOrganizationById>;

/** GET /orgs/{organizationId}/members */
export const listMembersRoute =
  (deps: ListMembersDeps): OperationHandler<typeof listMembersInOrganizationById> =>
  async (context, { params: { organizationId }, query }) => {
    const membership = membershipIn(context.principal, organizationId);
    if (membership === undefined) throw notFound('organization');
    if (!organizationPermissions(membership).listMembers)
      throw forbidden('member.guest', 'Guests cannot list the members of an organization.');
    const { items, ...rest } = await pageOfMembers(deps, organizationId, query, context.signal);
    return { status: 200, body: { ...rest, items: await deps.present(context, organizationId, items) } };
  };

interface MembersPage {
  readonly items: readonly MemberDocument[];
  readonly count?: number;
  readonly next?: { readonly page: string };
}

const pageOfMembers = async (
  deps: ListMembersDeps,
  organizationId: string,
  query: ListQuery,
  signal: AbortSignal,
): Promise<MembersPage> => {
  const { sort = 'joinedAt', order = 'desc', role, search } = query;
  const list = listIdentity('listMembersInOrganizationById', { organizationId, sort, order, role, search });
  const where: Where = { organizationId, ...(role === undefined ? {} : { roleFilter: role }) };
  const term = search === undefined || search.trim() === '' ? undefined : searchable(search);
  if (sort === 'lastSeenAt') return bySeen(deps, { organizationId, list, query, term, signal });
  const orderBy = [{ field: sort === 'name' ? 'sortName' : 'joinedAt', direction: order }] as const;
  if (sort === 'joinedAt' && term === undefined) {
    const page = await paginate<MemberDocument>(deps.members(), list, { where, orderBy }, query, deps.cursors);
    return { ...page, items: page.items.map(({ document }) => document) };
  }
  await requireDirectory(deps);
  const rows =
    term === undefined
      ? await paginate<DirectoryDocument>(deps.directory(), list, { where, orderBy }, query, deps.cursors)
      : await pageByScan<DirectoryDocument>({
          collection: deps.directory(),
          query: { where, orderBy },
          list,
          cursors: deps.cursors,
          request: query,
          signal,
          keep: async (found) => found.filter(({ document }) => document.search.includes(term)),
        });
  const userIds = rows.items.map(({ document }) => document.userId);
  const known = await membersByUser(deps.members, organizationId, userIds);
  // Somebody who has left meanwhile is not shown.
  const items = userIds.flatMap((userId) => known.get(userId) ?? []);
  return { ...rows, items };
};

/** @throws Problem 503 when the directory is far behind */
const requireDirectory = async (deps: Pick<ListMembersDeps, 'directoryReady'>): Promise<void> => {
  if (!(await deps.directoryReady()))
    throw new Problem('unavailable', 'members.behind', 'The directory of members is catching up; try again.', {
      retryAfter: 2,
    });
};

/** In the order of when they were seen: only who was seen. */
const bySeen = async (
  deps: ListMembersDeps,
  asked: {
    readonly organizationId: string;
    readonly list: string;
    readonly query: ListQuery;
    readonly term: string | undefined;
    readonly signal: AbortSignal;
  },
): Promise<MembersPage> => {
  const { organizationId, list, query, term, signal } = asked;
  const { order = 'desc', role } = query;
  if (term !== undefined) await requireDirectory(deps);
  const orderBy: Query['orderBy'] = [{ field: 'lastSeenAt', direction: order }];
  const known = new Map<string, MemberDocument>();
  const page = await pageByScan<LastSeenDocument>({
    collection: deps.lastSeen.collection,
    query: { where: { organizationId }, orderBy },
    list,
    cursors: deps.cursors,
    request: query,
    signal,
    async keep(found) {
      const userIds = found.map(({ document }) => document.userId);
      const members = await membersByUser(deps.members, organizationId, userIds);
      const names = term === undefined ? undefined : await deps.directory().getMany(found.map(({ id }) => id));
      return found.filter(({ id, document: { userId } }) => {
        const member = members.get(userId);
        if (member === undefined || (role !== undefined && member.roleFilter !== role)) return false;
        if (term !== undefined && !(names?.get(id)?.document.search.includes(term) ?? false)) return false;
        known.set(userId, member);
        return true;
      });
    },
  });
  return { ...page, items: page.items.flatMap(({ document }) => known.get(document.userId) ?? []) };
};
