import type { Scalar, Stored, Where } from '@bindery/read-store';
import type { CursorCodec } from '@bindery/service-kit';
import type { ChangeRequestDocument } from './read-model/document.ts';
import type { ChangeRequestsCollection } from './read-model/lookup.ts';

/** What a list is asked for, apart from where. */
export interface ListRequest {
  readonly page?: string;
  readonly limit?: number;
  readonly orderBy?: 'updatedAt' | 'createdAt';
  /** Identity of the list, so that its cursors work nowhere else. */
  readonly list: string;
}

export interface ChangeRequestPage {
  readonly items: readonly Stored<ChangeRequestDocument>[];
  readonly next?: { readonly page: string };
  /** Size of the whole list; absent where it would cost more than the page. */
  readonly count?: number;
}

/** Items of a page that was asked for without a limit. */
export const defaultLimit = 50;
/** Values in one `in` (read store port). */
const maxValues = 1000;

/**
 * One page of change requests, newest first, filtered and paged in the store.
 * @param filters no two of which match the same change request
 */
export const listChangeRequests = async (
  changeRequests: ChangeRequestsCollection,
  filters: readonly Where[],
  { page, limit = defaultLimit, orderBy = 'updatedAt', list }: ListRequest,
  cursors: CursorCodec,
): Promise<ChangeRequestPage & { readonly count: number }> => {
  const after = page === undefined ? undefined : cursors.decode(list, page);
  const [count, merged] = await Promise.all([
    countChangeRequests(changeRequests, filters),
    limit === 0 ? [] : newest(changeRequests, filters, orderBy, after, limit + 1),
  ]);
  const items = merged.slice(0, limit);
  const last = items.at(-1);
  if (last === undefined || merged.length <= limit) return { items, count };
  return { items, count, next: { page: cursors.encode(list, positionOf(last, orderBy)) } };
};

/** How many match. @param filters no two of which match the same change request */
export const countChangeRequests = async (
  changeRequests: ChangeRequestsCollection,
  filters: readonly Where[],
): Promise<number> => {
  const counts = await Promise.all(filters.map((where) => changeRequests.count(where)));
  return counts.reduce((sum, it) => sum + it, 0);
};

/**
 * The first change requests after a position that match any of the filters, newest first, each once.
 * @param limit 1 to 1001
 */
export const newest = async (
  changeRequests: ChangeRequestsCollection,
  filters: readonly Where[],
  orderBy: 'updatedAt' | 'createdAt',
  after: readonly Scalar[] | undefined,
  limit: number,
): Promise<readonly Stored<ChangeRequestDocument>[]> => {
  const order = [{ field: orderBy, direction: 'desc' }] as const;
  const found = await Promise.all(
    filters.map((where) => changeRequests.query({ where, orderBy: order, limit, ...(after ? { after } : {}) })),
  );
  if (found.length === 1) return found[0] ?? [];
  const merged = found.flat().sort(newestFirst(orderBy));
  return merged.filter(({ id }, index) => merged[index - 1]?.id !== id).slice(0, limit);
};

/** Where a list goes on after this one. */
export const positionOf = (
  { id, document }: Stored<ChangeRequestDocument>,
  orderBy: 'updatedAt' | 'createdAt',
): readonly Scalar[] => [document[orderBy], id];

/** The order of the store: by time, then by id, both downwards. */
const newestFirst =
  (field: 'updatedAt' | 'createdAt') =>
  (a: Stored<ChangeRequestDocument>, b: Stored<ChangeRequestDocument>): number => {
    const [left, right] = [a.document[field], b.document[field]];
    if (left !== right) return left > right ? -1 : 1;
    return a.id > b.id ? -1 : 1;
  };

/** A filter for these spaces, in pieces that the store takes. */
export const inSpaces = (spaceIds: readonly string[]): readonly Where[] =>
  Array.from({ length: Math.ceil(spaceIds.length / maxValues) }, (_, index) => ({
    spaceId: { in: spaceIds.slice(index * maxValues, (index + 1) * maxValues) },
  }));
