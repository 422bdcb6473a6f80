import type { Scalar, Stored, Where } from '@bindery/read-store';
import type { CursorCodec } from '@bindery/service-kit';
import type { VisibleSpaces } from '../access/index.ts';
import { type SpacesCollection, visibleDocuments } from '../spaces/index.ts';
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
  readonly count: number;
}

const defaultLimit = 50;
/** Values in one `in` (read store port). */
const maxValues = 1000;
/** Spaces of one organization that a list looks at. */
const maxSpaces = 20_000;

/**
 * One page of change requests, newest first, filtered and paged in the store.
 * @param filters no two of which match the same change request
 */
export const listChangeRequests = async (
  changeRequests: ChangeRequestsCollection,
  filters: readonly Where[],
  { page, limit = defaultLimit, orderBy = 'updatedAt', list }: ListRequest,
  cursors: CursorCodec,
): Promise<ChangeRequestPage> => {
  const after: readonly Scalar[] | undefined = page === undefined ? undefined : cursors.decode(list, page);
  const order = [{ field: orderBy, direction: 'desc' }] as const;
  const [counts, found] = await Promise.all([
    Promise.all(filters.map((where) => changeRequests.count(where))),
    Promise.all(
      filters.map((where) =>
        limit === 0
          ? []
          : changeRequests.query({ where, orderBy: order, limit: limit + 1, ...(after ? { after } : {}) }),
      ),
    ),
  ]);
  const count = counts.reduce((sum, it) => sum + it, 0);
  const merged = found.length === 1 ? (found[0] ?? []) : found.flat().sort(newestFirst(orderBy));
  const items = merged.slice(0, limit);
  const last = items.at(-1);
  if (last === undefined || merged.length <= limit) return { items, count };
  return { items, count, next: { page: cursors.encode(list, [last.document[orderBy], last.id]) } };
};

/** The order of the store: by time downwards, then by id upwards. */
const newestFirst =
  (field: 'updatedAt' | 'createdAt') =>
  (a: Stored<ChangeRequestDocument>, b: Stored<ChangeRequestDocument>): number => {
    const [left, right] = [a.document[field], b.document[field]];
    if (left !== right) return left > right ? -1 : 1;
    return a.id < b.id ? -1 : 1;
  };

/** A space in whose change requests one may look. */
export interface VisibleHead {
  readonly revision: string;
  /** It came from another organization, and older change requests of it are filed there. */
  readonly received: boolean;
}

/** Heads of the spaces of an organization that the caller may view and that are not deleted, by id. */
export const visibleHeads = async (
  spaces: SpacesCollection,
  visible: VisibleSpaces,
): Promise<ReadonlyMap<string, VisibleHead>> => {
  const heads = new Map<string, VisibleHead>();
  for await (const { id, revision, received = false } of visibleDocuments(spaces, visible, maxSpaces))
    heads.set(id, { revision, received });
  return heads;
};

/** A filter for these spaces, in pieces that the store takes. */
export const inSpaces = (spaceIds: readonly string[]): readonly Where[] =>
  Array.from({ length: Math.ceil(spaceIds.length / maxValues) }, (_, index) => ({
    spaceId: { in: spaceIds.slice(index * maxValues, (index + 1) * maxValues) },
  }));
