import { limits, type listMembersInOrganizationById, type QueryOf } from '@bindery/contracts';
import {
  type CursorCodec,
  forbidden,
  listIdentity,
  membershipIn,
  notFound,
  type OperationHandler,
  paginate,
} from '@bindery/service-kit';
import { pageOf } from '../../../shared/page-of.ts';
import { searchable } from '../../../shared/text.ts';
import { organizationPermissions } from '../../organizations/index.ts';
import type { Directory, DirectoryRow } from '../directory.ts';
import type { LastSeen } from '../last-seen.ts';
import { presentMember } from '../presenter.ts';
import type { LiveMembers } from '../queries.ts';
import type { MemberDocument } from '../read-model.ts';

export interface ListMembersDeps {
  readonly members: LiveMembers;
  readonly directory: Directory;
  readonly lastSeen: LastSeen;
  readonly cursors: CursorCodec;
}

/** GET /orgs/{organizationId}/members */
export const listMembersRoute =
  (deps: ListMembersDeps): OperationHandler<typeof listMembersInOrganizationById> =>
  async ({ principal }, { params: { organizationId }, query }) => {
    const membership = membershipIn(principal, organizationId);
    if (membership === undefined) throw notFound('organization');
    if (!organizationPermissions(membership).listMembers)
      throw forbidden('member.guest', 'Guests cannot list the members of an organization.');
    const { items, ...rest } = await (query.search === undefined && (query.sort ?? 'joinedAt') === 'joinedAt'
      ? fromIndex(deps, organizationId, query)
      : fromDirectory(deps, organizationId, query));
    const seen = await deps.lastSeen.of(
      organizationId,
      items.map(({ userId }) => userId),
    );
    return {
      status: 200,
      body: { ...rest, items: items.map((member) => presentMember(member, seen.get(member.userId))) },
    };
  };

type ListQuery = QueryOf<typeof listMembersInOrganizationById>;

const identityOf = (organizationId: string, { sort, order, role, search }: ListQuery): string =>
  listIdentity('listMembersInOrganizationById', { organizationId, sort, order, role, search });

/** The plain list: its order and its filter are those of an index. */
const fromIndex = async ({ members, cursors }: ListMembersDeps, organizationId: string, query: ListQuery) => {
  const { order = 'desc', role } = query;
  const where = { organizationId, ...(role === undefined ? {} : { roleFilter: role }) };
  const orderBy = [{ field: 'joinedAt', direction: order }] as const;
  const list = identityOf(organizationId, query);
  const { items, ...rest } = await paginate<MemberDocument>(members(), list, { where, orderBy }, query, cursors);
  return { ...rest, items: items.map(({ document }) => document) };
};

const fromDirectory = async (deps: ListMembersDeps, organizationId: string, query: ListQuery) => {
  const { sort = 'joinedAt', order = 'desc', role, search, limit = limits.page.default, page } = query;
  const term = searchable(search ?? '');
  const rows = (await deps.directory.rows(organizationId)).filter(
    (row) => row.search.includes(term) && (role === undefined || (row.role ?? 'guest') === role),
  );
  const seen =
    sort === 'lastSeenAt'
      ? await deps.lastSeen.of(
          organizationId,
          rows.map(({ userId }) => userId),
        )
      : undefined;
  const keys: Readonly<Record<typeof sort, (row: DirectoryRow) => string>> = {
    joinedAt: ({ joinedAt }) => joinedAt,
    name: ({ sortName }) => sortName,
    lastSeenAt: ({ userId }) => seen?.get(userId) ?? '',
  };
  return pageOf(seen === undefined ? rows : rows.filter(({ userId }) => seen.has(userId)), {
    list: identityOf(organizationId, query),
    keyOf: keys[sort],
    idOf: ({ userId }) => userId,
    order,
    limit,
    page,
    cursors: deps.cursors,
  });
};
